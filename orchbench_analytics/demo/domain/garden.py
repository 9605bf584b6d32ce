"""The garden planner: plants, watering, ailments."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    decimal,
    flag,
    listing,
    text,
)
from orchbench_analytics.demo.slots import Both, Choice, Code, Number, Rows, Slot, Terms

SOILS = {
    "sand": Both("sandy", "모래"),
    "loam": Both("loamy", "참흙"),
    "clay": Both("clay", "찰흙"),
    "peat": Both("peaty", "이탄"),
}
WEEK = {
    "mon": Both("Monday", "월요일"),
    "tue": Both("Tuesday", "화요일"),
    "wed": Both("Wednesday", "수요일"),
    "thu": Both("Thursday", "목요일"),
    "fri": Both("Friday", "금요일"),
    "sat": Both("Saturday", "토요일"),
    "sun": Both("Sunday", "일요일"),
}
SLOTS: dict[str, Slot] = {
    "plant": Choice(
        ("sea kale", "runner beans", "lovage", "dwarf quince", "night-scented stock"),
        ("방풍나물", "덩굴강낭콩", "왜당귀", "풀명자나무", "달맞이꽃"),
    ),
    "bed": Choice(
        ("the south bed", "the herb spiral", "the cold frame", "the roof boxes"),
        ("남쪽 화단", "허브 텃밭", "비닐 온상", "옥상 상자 텃밭"),
    ),
    "soil": Terms(SOILS),
    "sun_hours": Number(2, 9, 0.5),
    "litres": Number(4, 30, 0.5),
    "weekday": Terms({day: WEEK[day] for day in ("mon", "wed", "fri", "sun")}),
    "symptom": Choice(
        ("yellow leaf edges", "sticky stems", "pale new shoots", "brown spots", "curled leaves"),
        ("누렇게 뜬 잎 가장자리", "끈적이는 줄기", "색이 옅은 새순", "갈색 반점", "말린 잎"),
    ),
    "cause": Choice(
        ("too little potassium", "aphids", "waterlogged roots", "wind burn"),
        ("칼륨 부족", "진딧물", "뿌리 과습", "바람 피해"),
    ),
    "spacing": Number(15, 80, 5),
    "likelihood": Number(0.1, 0.9, 0.05),
    "schedule_id": Code("WS-####"),
}

RECOMMEND = Tool(
    name="recommendPlants",
    title=Both("Recommend plants", "식물 추천"),
    about=Both(
        "Recommends plants for a soil and the hours of sun a bed gets.",
        "흙의 종류와 하루 일조 시간에 맞는 식물을 추천합니다.",
    ),
    parameters={
        "soil": text("Kind of soil", "흙의 종류", enum=[*SOILS]),
        "sunlightHours": decimal("Hours of sun a day", "하루 일조 시간"),
        "edibleOnly": flag("Only what can be eaten", "먹을 수 있는 식물만"),
        "bed": text("Which bed", "심을 화단"),
    },
    required=("refinedQuery", "soil", "sunlightHours"),
    arguments={
        "soil": "{soil}",
        "sunlightHours": "$sun_hours",
        "edibleOnly": True,
        "bed": "{bed}",
    },
    result={
        "bed": "{bed}",
        "plants": Rows(
            4,
            {
                "plant": "{plant}",
                "spacingCentimetres": "$spacing",
                "litresPerWeek": "$litres",
                "plantFrom": "{later}",
                "edible": True,
            },
        ),
        "advice": Both(
            "Work a bucket of compost into each square metre a fortnight before planting.",
            "심기 두 주 전에 1제곱미터마다 퇴비 한 양동이를 섞어 두세요.",
        ),
    },
    varies=("plant", "spacing", "litres", "later"),
    twin=("bed", "soil"),
    en=Wording(
        asks=(
            "suggest edible plants for {bed}: {soil:said} soil, {sun_hours} hours of sun a day",
            "tell me which edible plants grow in {bed}, which has {soil:said} soil and "
            "{sun_hours} hours of sun",
        ),
        query="Edible plants for {bed} with {soil:said} soil and {sun_hours} hours of sun",
        answer="These would do well in {bed}:",
        line="{plant}, {spacing} cm apart, {litres} litres a week, plant out from {later:said}",
    ),
    ko=Wording(
        asks=(
            "해가 하루 {sun_hours}시간 들고 흙이 {soil:said}인 {bed}에 심을 만한 먹거리 식물을 "
            "추천해",
            "{soil:said} 땅이고 하루에 해가 {sun_hours}시간 드는 {bed}에 어떤 먹거리 식물을 "
            "심으면 좋을지 알려",
        ),
        query="{bed}({soil:said} 토양, 일조 {sun_hours}시간)에 맞는 먹거리 식물 추천",
        answer="{bed}에는 다음 식물이 잘 자랍니다.",
        line="{plant}: 간격 {spacing}cm, 물은 일주일에 {litres}L, {later:said}부터 심기",
    ),
)

WATER = Tool(
    name="scheduleWatering",
    title=Both("Schedule watering", "물 주기 예약"),
    about=Both(
        "Sets the sprinklers of a bed; at most 60 litres a day while the summer rules hold.",
        "화단의 물 주기를 예약합니다. 여름철 제한 기간에는 하루 60리터까지만 가능합니다.",
    ),
    parameters={
        "bed": text("Which bed", "물을 줄 화단"),
        "litres": decimal("Litres each time", "한 번에 줄 물의 양(L)"),
        "days": listing(
            "Days of the week",
            "물 주는 요일",
            {"type": "string", "enum": [*WEEK]},
        ),
        "skipWhenRaining": flag("Leave it out when it rains", "비 오는 날 건너뛰기"),
    },
    required=("refinedQuery", "bed", "litres", "days"),
    arguments={
        "bed": "{bed}",
        "litres": "$litres",
        "days": ["{weekday}", "{weekday_2}"],
        "skipWhenRaining": True,
    },
    result={
        "scheduleId": "{schedule_id}",
        "bed": "{bed}",
        "litres": "$litres",
        "days": ["{weekday}", "{weekday_2}"],
        "skipWhenRaining": True,
        "firstWatering": "{day}",
        "tank": Both(
            "The rain tank is two thirds full, enough for nine waterings.",
            "빗물 저장고가 3분의 2쯤 차 있어 아홉 번 줄 수 있는 양입니다.",
        ),
    },
    twin=("bed", "litres", "schedule_id"),
    missing_keys=("litres", "days"),
    en=Wording(
        asks=(
            "water {bed} with {litres} litres every {weekday:said} and {weekday_2:said} "
            "unless it rains",
            "set the sprinklers of {bed} to {litres} litres on {weekday:said} and "
            "{weekday_2:said}, "
            "but not in the rain",
        ),
        query="Water {bed} with {litres} litres on {weekday:said} and {weekday_2:said}",
        answer="From {day:said} on, {bed} gets {litres} litres every {weekday:said} and "
        "{weekday_2:said} (schedule {schedule_id}).",
        missing=Missing(
            "set up watering for {bed} while I am away, but not when it rains",
            "Amount of water, days of the week",
            "How much water should it get, and on which days?",
            "{litres} litres, every {weekday:said} and {weekday_2:said}.",
        ),
        barred=Barred(
            "pour 400 litres onto {bed} every single day",
            "At most 60 litres a day under the summer rules, 400 were asked for",
            "While the summer rules hold, a bed may get sixty litres a day at most, so I have not "
            "set that up.",
        ),
    ),
    ko=Wording(
        asks=(
            "비 오는 날은 빼고 {bed}에 매주 {weekday:said}, {weekday_2:said}마다 물을 "
            "{litres}리터씩 "
            "주도록 예약해",
            "{bed} 스프링클러를 {weekday:said}, {weekday_2:said}에 {litres}리터로 맞추되 비가 오면 "
            "건너뛰게 해",
        ),
        query="{bed} 물 주기 {litres}L({weekday:said}, {weekday_2:said}) 예약",
        answer="{day:said}부터 {bed}에 {weekday:said}, {weekday_2:said}마다 물을 "
        "{litres}리터씩 줍니다. 예약 번호는 {schedule_id}입니다.",
        missing=Missing(
            "집을 비우는 동안 비 오는 날만 빼고 {bed}에 물을 주도록 예약해",
            "물의 양, 요일",
            "물은 얼마나, 무슨 요일에 주면 될까요?",
            "{weekday:said}, {weekday_2:said}에 {litres}리터씩 주면 돼요.",
        ),
        barred=Barred(
            "{bed}에 날마다 물을 400리터씩 부어",
            "여름철 제한으로 하루 60리터까지만 가능하나 400리터를 요청함",
            "여름철에는 화단 하나에 하루 60리터까지만 줄 수 있어 예약하지 않았습니다.",
        ),
    ),
)

DIAGNOSE = Tool(
    name="diagnosePlant",
    title=Both("Diagnose a plant", "식물 진단"),
    about=Both("Says what may ail a plant.", "증상을 보고 식물이 어디가 아픈지 알려 줍니다."),
    parameters={
        "plant": text("Which plant", "식물 이름"),
        "symptoms": listing("What can be seen", "보이는 증상", {"type": "string"}),
        "bed": text("Where it grows", "자라는 곳"),
    },
    required=("refinedQuery", "plant", "symptoms"),
    arguments={"plant": "{plant}", "symptoms": ["{symptom}", "{symptom_2}"], "bed": "{bed}"},
    result={
        "plant": "{plant}",
        "causes": Rows(
            3,
            {
                "cause": "{cause}",
                "likelihood": "$likelihood",
                "treatment": Both(
                    "Cut back what is affected, then check again after ten days.",
                    "상한 부분을 잘라 내고 열흘 뒤에 다시 살펴보세요.",
                ),
            },
        ),
    },
    varies=("cause", "likelihood"),
    twin=("plant",),
    missing_keys=("symptoms",),
    en=Wording(
        asks=(
            "find out why the {plant} in {bed} has {symptom} and {symptom_2}",
            "work out what is wrong with my {plant} in {bed}: {symptom}, {symptom_2}",
        ),
        query="Why does the {plant} have {symptom} and {symptom_2}",
        answer="What may be wrong with the {plant}:",
        line="{cause} (likelihood {likelihood})",
        missing=Missing(
            "find out what is wrong with the {plant} in {bed}",
            "Symptoms of the plant",
            "What do you see on it? Leaves, stems, shoots?",
            "It has {symptom}, and also {symptom_2}.",
        ),
    ),
    ko=Wording(
        asks=(
            "{bed}에 있는 {plant}에 {symptom:과} {symptom_2:이} 보이는데 원인을 알아봐",
            "{symptom:과} {symptom_2:이} 나타난 {bed}의 {plant:을} 진단해",
        ),
        query="{plant} 증상({symptom}, {symptom_2}) 원인 진단",
        answer="{plant}에서 의심되는 원인입니다.",
        line="{cause}(가능성 {likelihood})",
        missing=Missing(
            "{bed}에 있는 {plant:이} 시들시들한데 원인을 알아봐",
            "식물의 증상",
            "잎이나 줄기, 새순에 어떤 증상이 보이나요?",
            "{symptom:과} {symptom_2:이} 보여요.",
        ),
    ),
)

GARDEN = Agent(
    agent_id="garden_agent",
    name=Both("Garden Planner", "텃밭 도우미"),
    about=Both(
        "Plans beds, waters them and knows what ails a plant.",
        "화단을 계획하고 물을 주며, 식물이 어디가 아픈지 살펴 줍니다.",
    ),
    tools=(RECOMMEND, WATER, DIAGNOSE),
    slots=SLOTS
    | {
        "weekday_2": Terms({day: WEEK[day] for day in ("tue", "thu", "sat")}),
        "symptom_2": Choice(
            ("wilting at noon", "holes in the leaves"), ("한낮의 시듦", "잎의 구멍")
        ),
    },
)
