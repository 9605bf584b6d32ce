"""The trail warden: paths, huts, reports."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    date,
    decimal,
    text,
    whole,
)
from orchbench_analytics.demo.slots import Both, Choice, Clock, Code, Number, Rows, Slot, Terms

GRADES = {
    "easy": Both("easy", "쉬운"),
    "moderate": Both("moderate", "중간"),
    "steep": Both("steep", "힘든"),
}
DAMAGE = {
    "fallen_tree": Both("a fallen tree", "쓰러진 나무"),
    "washed_out": Both("a washed-out stretch", "물에 쓸린 길"),
    "broken_sign": Both("a broken signpost", "부서진 이정표"),
}
SLOTS: dict[str, Slot] = {
    "region": Choice(
        ("the Heron Hills", "Saltmarsh", "the Ribbon Valley", "Kestrel Edge"),
        ("왜가리 능선", "갯벌 들녘", "실개천 골짜기", "황조롱이 벼랑"),
    ),
    "trail": Choice(
        ("Smugglers' Steps", "the Long Sheepwalk", "Nine Stiles", "Fog Bell Path", "Dry Brook"),
        ("등짐꾼 돌계단", "긴 양치기길", "아홉 고개길", "안개종 오솔길", "마른내길"),
    ),
    "hut": Choice(
        ("Embers Hut", "Two Wells Hut", "Larkrise Hut", "Slate House"),
        ("잉걸 산장", "두우물 산장", "종다리 산장", "너와집 산장"),
    ),
    "grade": Terms(GRADES),
    "damage": Terms(DAMAGE),
    "trail_id": Code("TL-###"),
    "hut_booking": Code("HB-#####"),
    "report_id": Code("RP-####"),
    "kilometres": Number(3, 18, 0.5),
    "limit_km": Number(8, 22, 0.5),
    "climb": Number(60, 900, 20),
    "nights": Number(2, 5),
    "hut_price": Number(12, 36, 2, times_in_korean=900),
    "opens_at": Clock(13, 16),
}

FIND = Tool(
    name="findTrails",
    title=Both("Find trails", "산길 찾기"),
    about=Both(
        "Finds marked trails in a region by length and difficulty.",
        "지역의 산길을 길이와 난이도로 찾습니다.",
    ),
    parameters={
        "region": text("Where to walk", "지역"),
        "maxKilometres": decimal("At most this long", "최대 길이(km)"),
        "difficulty": text("Difficulty", "난이도", enum=[*GRADES]),
    },
    required=("refinedQuery", "region"),
    arguments={"region": "{region}", "maxKilometres": "$limit_km", "difficulty": "{grade}"},
    result={
        "region": "{region}",
        "trails": Rows(
            4,
            {
                "trailId": "{trail_id}",
                "name": "{trail}",
                "kilometres": "$kilometres",
                "climbMetres": "$climb",
                "difficulty": "{grade}",
                "nearestHut": "{hut}",
            },
        ),
        "warning": Both(
            "The footbridge at the mill is closed until the end of the month.",
            "물레방앗간 앞 나무다리는 이달 말까지 통행할 수 없습니다.",
        ),
    },
    varies=("trail_id", "trail", "kilometres", "climb", "hut"),
    twin=("region",),
    en=Wording(
        asks=(
            "find {grade:said} trails in {region} of at most {limit_km} kilometres",
            "look for {grade:said} walks around {region}, no longer than {limit_km} kilometres",
        ),
        query="{grade:said} trails in {region} up to {limit_km} km",
        answer="These trails in {region} fit:",
        line="{trail} ({trail_id}): {kilometres} km, {climb} m of climb, nearest hut {hut}",
    ),
    ko=Wording(
        asks=(
            "{region}에서 {limit_km}km가 넘지 않는 {grade:said} 난이도의 산길을 찾아",
            "{region} 근처에 {grade:said} 난이도로 {limit_km}km 안쪽인 길을 추천해",
        ),
        query="{region} {grade:said} 난이도 {limit_km}km 이하 산길 검색",
        answer="{region}에서 조건에 맞는 산길입니다.",
        line="{trail}({trail_id}): {kilometres}km, 오르막 {climb}m, 가까운 산장 {hut}",
    ),
)

HUT = Tool(
    name="bookHut",
    title=Both("Book a hut", "산장 예약"),
    about=Both(
        "Books beds in a mountain hut; no dogs, at most 7 nights.",
        "산장의 잠자리를 예약합니다. 반려견은 들어갈 수 없고 최대 7박입니다.",
    ),
    parameters={
        "hutName": text("Which hut", "산장 이름"),
        "arrival": date("Day of arrival, YYYY-MM-DD", "도착 날짜(YYYY-MM-DD)"),
        "nights": whole("How many nights", "숙박 일수"),
        "beds": whole("How many beds", "잠자리 수"),
        "contact": text("Who is responsible", "대표자 이름"),
    },
    required=("refinedQuery", "hutName", "arrival", "nights", "beds"),
    arguments={
        "hutName": "{hut}",
        "arrival": "{day}",
        "nights": "$nights",
        "beds": "$guests",
        "contact": "{person}",
    },
    result={
        "bookingId": "{hut_booking}",
        "hutName": "{hut}",
        "arrival": "{day}",
        "nights": "$nights",
        "beds": "$guests",
        "contact": "{person}",
        "pricePerBed": "$hut_price",
        "opensAt": "{opens_at}",
        "bring": [
            Both("A sleeping bag", "침낭"),
            Both("Slippers", "실내화"),
            Both("Food for the evening", "저녁거리"),
        ],
    },
    twin=("hut", "hut_booking"),
    missing_keys=("arrival", "nights"),
    en=Wording(
        asks=(
            "book {guests} beds at {hut} from {day:said} for {nights} nights, contact {person}",
            "reserve {hut} for {guests} of us, arriving {day:said}, {nights} nights, in the "
            "name of "
            "{person}",
        ),
        query="{guests} beds at {hut} from {day:said} for {nights} nights",
        answer="{guests} beds at {hut} are booked from {day:said} for {nights} nights (booking "
        "{hut_booking}). The door opens at {opens_at}.",
        missing=Missing(
            "book {guests} beds at {hut}, contact {person}",
            "Day of arrival, number of nights",
            "When do you arrive, and how many nights will you stay?",
            "We arrive on {day:said} and stay {nights} nights.",
        ),
        barred=Barred(
            "book {guests} beds at {hut} from {day:said} for us and our two sheepdogs",
            "Dogs are not allowed in the huts",
            "Dogs cannot stay in the huts, so I have not booked {hut}.",
        ),
    ),
    ko=Wording(
        asks=(
            "{hut}에 {day:said}부터 {nights}박으로 {guests}명 잠자리를 {person} 이름으로 예약해",
            "{day:said}에 도착해서 {nights}박 할 수 있게 {hut}에 {guests}자리를 {person} 앞으로 "
            "잡아",
        ),
        query="{hut} {day:said}부터 {nights}박 {guests}명 예약",
        answer="{hut}에 {day:said}부터 {nights}박, {guests}자리가 예약되었습니다(예약 "
        "{hut_booking}). "
        "문은 {opens_at}에 열립니다.",
        missing=Missing(
            "{hut}에 {guests}명 잠자리를 {person} 이름으로 예약해",
            "도착 날짜, 숙박 일수",
            "언제 도착해서 몇 밤 묵으시나요?",
            "{day:said}에 도착해서 {nights}박 할 거예요.",
        ),
        barred=Barred(
            "양치기 개 두 마리와 함께 묵게 {hut:을} {day:said}부터 {guests}명 예약해",
            "산장에는 반려견이 들어갈 수 없음",
            "산장에는 개가 들어갈 수 없어서 {hut} 예약을 진행하지 못했습니다.",
        ),
    ),
)

REPORT = Tool(
    name="reportTrailDamage",
    title=Both("Report damage", "산길 훼손 신고"),
    about=Both("Reports damage on a trail to the wardens.", "산길의 훼손을 관리인에게 알립니다."),
    parameters={
        "trailId": text("Trail, such as TL-123", "산길 번호(예: TL-123)", pattern=r"^TL-\d{3}$"),
        "kind": text("What is damaged", "훼손 종류", enum=[*DAMAGE]),
        "atKilometre": decimal("How far from the start", "출발점에서의 거리(km)"),
        "details": text("Anything else", "덧붙일 말"),
    },
    required=("refinedQuery", "trailId", "kind"),
    arguments={"trailId": "{trail_id}", "kind": "{damage}", "atKilometre": "$kilometres"},
    result={
        "reportId": "{report_id}",
        "trailId": "{trail_id}",
        "kind": "{damage}",
        "status": "received",
        "inspectedBy": "{day}",
        "warden": "{person}",
    },
    twin=("trail_id", "damage", "report_id"),
    missing_keys=("trailId", "atKilometre"),
    en=Wording(
        asks=(
            "report {damage:said} at kilometre {kilometres} of trail {trail_id}",
            "tell the wardens about {damage:said} on {trail_id}, {kilometres} kilometres in",
        ),
        query="Report {damage:said} on trail {trail_id}",
        answer="Thank you: report {report_id} about {trail_id} has reached {person}, who will look "
        "at it by {day:said}.",
        missing=Missing(
            "report {damage:said} that I came across this morning",
            "Trail number, place on the trail",
            "On which trail was it, and how far along?",
            "On {trail_id}, about {kilometres} kilometres in.",
        ),
    ),
    ko=Wording(
        asks=(
            "산길 {trail_id}의 {kilometres}km 지점에 {damage:said이} 있다고 신고해",
            "{trail_id} {kilometres}km 지점의 {damage:said을} 관리인에게 알려",
        ),
        query="산길 {trail_id} {damage:said} 신고",
        answer="신고해 주셔서 고맙습니다. {trail_id} 신고({report_id})를 {person} 관리인이 받았고 "
        "{day:said}까지 살펴볼 예정입니다.",
        missing=Missing(
            "오늘 아침에 본 {damage:said을} 신고해",
            "산길 번호, 위치",
            "어느 산길의 몇 km 지점이었나요?",
            "{trail_id}에서 {kilometres}km쯤 들어간 곳이에요.",
        ),
    ),
)

TRAIL = Agent(
    agent_id="trail_agent",
    name=Both("Trail Warden", "산길 지킴이"),
    about=Both(
        "Knows the marked trails, books the huts and takes reports of damage.",
        "산길을 안내하고 산장을 예약하며, 훼손 신고를 받습니다.",
    ),
    tools=(FIND, HUT, REPORT),
    slots=SLOTS,
)
