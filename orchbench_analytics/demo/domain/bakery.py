"""The bakery: breads, cakes, standing orders."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    date,
    flag,
    listing,
    record,
    text,
    whole,
)
from orchbench_analytics.demo.slots import Both, Choice, Clock, Code, Number, Rows, Slot, Terms

ALLERGENS = {
    "nuts": Both("nuts", "견과류"),
    "soy": Both("soy", "콩"),
    "mustard": Both("mustard", "겨자"),
    "sesame": Both("sesame", "참깨"),
}
SLOTS: dict[str, Slot] = {
    "shop": Choice(
        ("Crumb Lane", "the mill shop", "Quayside Ovens", "Hob & Daughter"),
        ("골목 빵집", "방앗간 가게", "나루 화덕", "모녀 빵집"),
    ),
    "bread": Choice(
        ("kelp sourdough", "oat plait", "smoked rye", "honey bannock", "seeded ring"),
        ("다시마 발효빵", "귀리 꽈배기빵", "훈연 호밀빵", "꿀 납작빵", "씨앗 고리빵"),
    ),
    "cake": Choice(
        ("pear and cardamom cake", "lemon curd layer cake", "chestnut roll", "plum tart"),
        ("배 생강 케이크", "유자 겹케이크", "밤 롤케이크", "자두 타르트"),
    ),
    "greeting": Choice(
        ("Welcome home", "Ninety and counting", "Well sailed", "Thank you, Edda"),
        ("집에 온 걸 환영해", "아흔 번째 생신 축하드려요", "항해하느라 수고했어", "늘 고마워요"),
    ),
    "allergen": Terms(ALLERGENS),
    "bread_id": Code("BR-##"),
    "order_id": Code("OR-#####"),
    "servings": Number(6, 24, 2),
    "candles": Number(2, 12),
    "loaves": Number(2, 8),
    "bread_price": Number(3, 9, 0.5, times_in_korean=1000),
    "baked_at": Clock(5, 9),
    "pickup_at": Clock(9, 17),
}

SEARCH = Tool(
    name="searchBreads",
    title=Both("Search breads", "빵 검색"),
    about=Both(
        "Lists what a shop bakes, without given allergens.",
        "빵집에서 굽는 빵을 알레르기 성분을 빼고 보여 줍니다.",
    ),
    parameters={
        "shop": text("Which shop", "빵집 이름"),
        "avoidAllergens": listing(
            "Allergens to avoid", "피할 알레르기 성분", {"type": "string", "enum": [*ALLERGENS]}
        ),
        "vegan": flag("Only vegan", "비건 빵만"),
    },
    required=("refinedQuery", "shop"),
    arguments={"shop": "{shop}", "avoidAllergens": ["{allergen}"], "vegan": True},
    result={
        "shop": "{shop}",
        "breads": Rows(
            4,
            {
                "breadId": "{bread_id}",
                "name": "{bread}",
                "price": "$bread_price",
                "outOfTheOvenAt": "{baked_at}",
                "vegan": True,
            },
        ),
        "note": Both(
            "Loaves are kept for an hour after the time you name.",
            "말씀하신 시각에서 한 시간까지 빵을 보관해 드립니다.",
        ),
    },
    varies=("bread_id", "bread", "bread_price", "baked_at"),
    twin=("shop",),
    en=Wording(
        asks=(
            "see which vegan breads {shop} bakes without {allergen:said}",
            "list the vegan loaves at {shop} that are free of {allergen:said}",
        ),
        query="Vegan breads at {shop} without {allergen:said}",
        answer="{shop} bakes these without {allergen:said}:",
        line="{bread} ({bread_id}), {bread_price} crowns, out of the oven at {baked_at}",
    ),
    ko=Wording(
        asks=(
            "{shop}에서 {allergen:said이} 안 들어간 비건 빵을 찾아",
            "{allergen:said} 없이 굽는 비건 빵이 {shop}에 뭐가 있는지 알려",
        ),
        query="{shop}의 {allergen:said} 없는 비건 빵 검색",
        answer="{shop}에서 {allergen:said} 없이 굽는 빵입니다.",
        line="{bread}({bread_id}): {bread_price}원, {baked_at}에 나옴",
    ),
)

CAKE = Tool(
    name="orderCake",
    title=Both("Order a cake", "케이크 주문"),
    about=Both(
        "Orders a cake for a day; at most 40 servings, one day's notice.",
        "케이크를 주문합니다. 최대 40인분이며 하루 전에 주문해야 합니다.",
    ),
    parameters={
        "cake": text("Which cake", "케이크 이름"),
        "servings": whole("Number of servings", "인분"),
        "pickupDate": date("Day of pick-up, YYYY-MM-DD", "찾는 날짜(YYYY-MM-DD)"),
        "decoration": record(
            "What goes on top",
            "장식",
            {
                "message": text("Words in icing", "글귀"),
                "candles": whole("Number of candles", "초 개수"),
            },
        ),
        "shop": text("Where to pick it up", "찾을 빵집"),
    },
    required=("refinedQuery", "cake", "servings", "pickupDate"),
    arguments={
        "cake": "{cake}",
        "servings": "$servings",
        "pickupDate": "{day}",
        "decoration": {"message": "{greeting}", "candles": "$candles"},
        "shop": "{shop}",
    },
    result={
        "orderId": "{order_id}",
        "cake": "{cake}",
        "servings": "$servings",
        "pickupDate": "{day}",
        "pickupTime": "{pickup_at}",
        "shop": "{shop}",
        "decoration": {"message": "{greeting}", "candles": "$candles"},
        "deposit": "$bread_price",
    },
    twin=("cake", "greeting", "order_id"),
    missing_keys=("servings", "pickupDate"),
    en=Wording(
        asks=(
            "order a {cake} for {servings} from {shop} for {day:said}, with '{greeting}' on it and "
            "{candles} candles",
            "have {shop} bake a {cake} with {servings} servings for {day:said}; it should say "
            "'{greeting}' and carry {candles} candles",
        ),
        query="Order a {cake} for {servings} on {day:said}",
        answer="The {cake} for {servings} will be ready at {shop} on {day:said} at {pickup_at}, "
        "with "
        "'{greeting}' on top. Order {order_id}.",
        missing=Missing(
            "order a {cake} from {shop} with '{greeting}' on it and {candles} candles",
            "Number of servings, day of pick-up",
            "For how many people, and for which day?",
            "For {servings} people, to be picked up on {day:said}.",
        ),
        barred=Barred(
            "have {shop} bake a {cake} for 300 people by {day:said}",
            "At most 40 servings, 300 were asked for",
            "The ovens manage forty servings at most; three hundred are more than they can bake.",
        ),
    ),
    ko=Wording(
        asks=(
            "{shop}에 {day:said}에 찾을 {cake} {servings}인분을 주문하고 '{greeting}' 글귀와 초 "
            "{candles}개를 넣어",
            "{day:said}에 쓸 {servings}인분짜리 {cake:을} {shop}에서 주문해서 '{greeting}'라고 "
            "쓰고 초 "
            "{candles}개를 꽂아",
        ),
        query="{day:said} {cake} {servings}인분 주문",
        answer="{cake} {servings}인분이 {day:said} {pickup_at}까지 {shop}에 준비됩니다. 글귀는 "
        "'{greeting}'이고 주문 번호는 {order_id}입니다.",
        missing=Missing(
            "{shop}에서 '{greeting}' 글귀와 초 {candles}개를 넣은 {cake:을} 주문해",
            "인분, 찾는 날짜",
            "몇 인분으로, 언제 찾으실 건가요?",
            "{servings}인분이고 {day:said}에 찾을게요.",
        ),
        barred=Barred(
            "{day:said}까지 {shop}에서 {cake} 300인분을 구워",
            "최대 40인분까지만 주문할 수 있으나 300인분을 요청함",
            "화덕 크기 때문에 40인분까지만 구울 수 있어 300인분은 주문하지 못했습니다.",
        ),
    ),
)

BREAD = Tool(
    name="orderBread",
    title=Both("Order bread", "빵 주문"),
    about=Both("Orders loaves for a day.", "정해진 날에 찾을 빵을 주문합니다."),
    parameters={
        "items": listing(
            "What to bake",
            "주문할 빵",
            {
                "type": "object",
                "properties": {"breadId": {"type": "string"}, "quantity": {"type": "integer"}},
            },
        ),
        "pickupDate": date("Day of pick-up, YYYY-MM-DD", "찾는 날짜(YYYY-MM-DD)"),
        "customer": text("Name on the bag", "봉투에 적을 이름"),
        "sliced": flag("Whether to slice it", "썰기 여부"),
    },
    required=("refinedQuery", "items", "pickupDate", "customer"),
    arguments={
        "items": [{"breadId": "{bread_id}", "quantity": "$loaves"}],
        "pickupDate": "{day}",
        "customer": "{person}",
        "sliced": True,
    },
    result={
        "orderId": "{order_id}",
        "items": [{"breadId": "{bread_id}", "name": "{bread}", "quantity": "$loaves"}],
        "pickupDate": "{day}",
        "pickupTime": "{pickup_at}",
        "customer": "{person}",
        "total": "$bread_price",
    },
    twin=("bread_id", "loaves", "order_id"),
    missing_keys=("pickupDate", "customer"),
    en=Wording(
        asks=(
            "order {loaves} of {bread_id}, sliced, for {person} to pick up on {day:said}",
            "put {loaves} sliced loaves of {bread_id} aside for {person} on {day:said}",
        ),
        query="Order {loaves} loaves of {bread_id} for {day:said}",
        answer="{loaves} loaves of {bread_id} wait for {person} on {day:said} at {pickup_at}. "
        "Order "
        "{order_id}.",
        missing=Missing(
            "order {loaves} sliced loaves of {bread_id}",
            "Day of pick-up, name on the bag",
            "When will they be picked up, and under what name?",
            "On {day:said}, by {person}.",
        ),
    ),
    ko=Wording(
        asks=(
            "{person} 이름으로 {day:said}에 찾을 {bread_id} {loaves}개를 썰어서 주문해",
            "{day:said}에 {person:이} 찾아갈 {bread_id} {loaves}개를 썰어 달라고 주문해",
        ),
        query="{day:said} {bread_id} {loaves}개 주문",
        answer="{bread_id} {loaves}개가 {day:said} {pickup_at}에 {person} 님 앞으로 준비됩니다. "
        "주문 "
        "번호는 {order_id}입니다.",
        missing=Missing(
            "{bread_id} {loaves}개를 썰어서 주문해",
            "찾는 날짜, 주문자 이름",
            "언제, 어느 분 성함으로 찾으실 건가요?",
            "{day:said}에 {person:이} 찾으러 갈 거예요.",
        ),
    ),
)

BAKERY = Agent(
    agent_id="bakery_agent",
    name=Both("Bakery", "빵집"),
    about=Both(
        "Takes orders for the four bakeries of the bay.",
        "바닷가 마을 빵집 네 곳의 주문을 받습니다.",
    ),
    tools=(SEARCH, CAKE, BREAD),
    slots=SLOTS,
)
