"""The museum guide: exhibits, tours, passes."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    date,
    listing,
    text,
    whole,
)
from orchbench_analytics.demo.slots import Both, Choice, Clock, Code, Number, Rows, Slot, Terms

HALLS = {
    "north": Both("north", "북쪽"),
    "south": Both("south", "남쪽"),
    "tower": Both("tower", "탑"),
    "courtyard": Both("courtyard", "안뜰"),
}
AUDIO = {
    "english": Both("English", "영어"),
    "korean": Both("Korean", "한국어"),
    "french": Both("French", "프랑스어"),
    "sign_language": Both("sign-language", "수어"),
}
PASSES = {
    "single": Both("single", "1인"),
    "family": Both("family", "가족"),
    "student": Both("student", "학생"),
    "patron": Both("patron", "후원자"),
}
SLOTS: dict[str, Slot] = {
    "theme": Choice(
        ("lighthouse keeping", "paper making", "tidal clocks", "island weaving", "whale songs"),
        ("등대지기의 하루", "한지 뜨기", "물때와 시계", "섬마을 베 짜기", "고래의 노래"),
    ),
    "exhibit": Choice(
        ("Lamps Over Water", "A Sheet at a Time", "The Moon Keeps Time", "Warp and Weft", "Low C"),
        (
            "물 위의 등불",
            "종이 한 장의 시간",
            "달이 맞춘 시계",
            "씨실과 날실",
            "깊은 바다의 낮은 소리",
        ),
    ),
    "curator": Choice(
        ("Dr Lise Anwell", "Jonah Brack", "Petra Sunde", "Omar Teal"),
        ("이한결 학예사", "조아라 학예사", "신바름 학예사", "오새결 학예사"),
    ),
    "hall": Terms(HALLS),
    "exhibit_id": Code("EX-###"),
    "tour_id": Code("TR-#####"),
    "pass_id": Code("PS-#######"),
    "tour_time": Clock(10, 16),
    "rooms": Number(2, 9),
    "tour_price": Number(6, 24, 1, times_in_korean=800),
    "audio": Terms(AUDIO),
    "pass_kind": Terms(PASSES),
    "months": Number(2, 12),
}

SEARCH = Tool(
    name="searchExhibits",
    title=Both("Search exhibits", "전시 검색"),
    about=Both(
        "Finds current exhibits by theme and hall, with opening times and curators.",
        "주제와 전시실로 현재 진행 중인 전시를 찾아 관람 시간과 담당 학예사를 알려 줍니다.",
    ),
    parameters={
        "theme": text("What the exhibit is about", "전시 주제"),
        "hall": text("Which hall", "전시실", enum=[*HALLS]),
        "openOn": date("Open on this day, YYYY-MM-DD", "관람 날짜(YYYY-MM-DD)"),
    },
    required=("refinedQuery", "theme"),
    arguments={"theme": "{theme}", "hall": "{hall}", "openOn": "{day}"},
    result={
        "theme": "{theme}",
        "exhibits": Rows(
            4,
            {
                "exhibitId": "{exhibit_id}",
                "title": "{exhibit}",
                "hall": "{hall}",
                "curator": "{curator}",
                "rooms": "$rooms",
                "lastEntry": "{tour_time}",
            },
        ),
        "note": Both(
            "Photographs are welcome without a flash; large bags stay in the cloakroom.",
            "플래시를 끄면 사진을 찍을 수 있고, 큰 가방은 물품 보관소에 맡겨 주세요.",
        ),
    },
    varies=("exhibit_id", "exhibit", "curator", "rooms", "tour_time"),
    twin=("theme",),
    en=Wording(
        asks=(
            "see what the museum shows about {theme} in the {hall:said} hall on {day:said}",
            "find exhibits on {theme} in the {hall:said} hall that are open on {day:said}",
        ),
        query="Exhibits about {theme} open on {day:said}",
        answer="The museum shows the following about {theme}:",
        line="{exhibit} ({exhibit_id}), {hall:said} hall, {rooms} rooms, with {curator}; "
        "last entry {tour_time}",
    ),
    ko=Wording(
        asks=(
            "{day:said}에 박물관 {hall:said} 전시실에서 볼 수 있는 '{theme}' 관련 전시를 찾아",
            "'{theme}' 주제로 {day:said}에 {hall:said} 전시실에서 열리는 전시를 알려",
        ),
        query="{day:said} '{theme}' 관련 전시 검색",
        answer="'{theme}'에 관한 전시를 찾았습니다.",
        line="{exhibit}({exhibit_id}): {hall:said} 전시실, 방 {rooms}개, {curator}, "
        "입장 마감 {tour_time}",
    ),
)

TOUR = Tool(
    name="bookGuidedTour",
    title=Both("Book a guided tour", "해설 관람 예약"),
    about=Both(
        "Books a guided tour of one exhibit; tours run from 10:00 to 17:00, not on Mondays.",
        "전시 해설을 예약합니다. 해설은 월요일을 빼고 10시부터 17시까지 진행됩니다.",
    ),
    parameters={
        "exhibitId": text(
            "Exhibit, such as EX-123", "전시 번호(예: EX-123)", pattern=r"^EX-\d{3}$"
        ),
        "visitDate": date("Day of the visit, YYYY-MM-DD", "관람 날짜(YYYY-MM-DD)"),
        "startTime": text("Start, HH:MM", "시작 시각(HH:MM)", pattern=r"^\d{2}:\d{2}$"),
        "visitors": whole("Number of visitors", "관람 인원"),
        "audioLanguages": listing(
            "Languages of the audio guides",
            "음성 안내기 언어",
            {"type": "string", "enum": [*AUDIO]},
        ),
    },
    required=("refinedQuery", "exhibitId", "visitDate", "startTime", "visitors"),
    arguments={
        "exhibitId": "{exhibit_id}",
        "visitDate": "{day}",
        "startTime": "{tour_time}",
        "visitors": "$guests",
        "audioLanguages": ["{audio}"],
    },
    result={
        "tourId": "{tour_id}",
        "exhibitId": "{exhibit_id}",
        "visitDate": "{day}",
        "startTime": "{tour_time}",
        "visitors": "$guests",
        "guide": "{curator}",
        "pricePerPerson": "$tour_price",
        "meetingPoint": Both("Under the brass compass in the foyer", "로비의 놋쇠 나침반 아래"),
    },
    twin=("exhibit_id", "tour_time", "tour_id"),
    missing_keys=("visitDate", "startTime", "visitors"),
    en=Wording(
        asks=(
            "book a guided tour of exhibit {exhibit_id} on {day:said} at {tour_time} for {guests} "
            "people, with {audio:said} audio guides",
            "reserve the {tour_time} tour of {exhibit_id} on {day:said} for {guests}, audio in "
            "{audio:said}",
        ),
        query="Guided tour of {exhibit_id} on {day:said} for {guests}",
        answer="Your tour of {exhibit_id} is set for {day:said} at {tour_time}; {curator} meets "
        "the "
        "{guests} of you under the brass compass. Tour number {tour_id}.",
        missing=Missing(
            "book a guided tour of exhibit {exhibit_id} with {audio:said} audio guides",
            "Date, start time, number of visitors",
            "When would you like to come, at what time, and how many are you?",
            "On {day:said} at {tour_time}, and we are {guests}.",
        ),
        barred=Barred(
            "book the tour of {exhibit_id} for {guests} of us at half past nine in the evening",
            "Tours run between 10:00 and 17:00 only, 21:30 was asked for",
            "The last tour starts at five in the afternoon, so an evening tour cannot be booked.",
        ),
    ),
    ko=Wording(
        asks=(
            "{day:said} {tour_time}에 {exhibit_id} 전시 해설을 {guests}명으로 예약하고 음성 안내는 "
            "{audio:said으로} 준비해",
            "{exhibit_id} 해설 관람을 {day:said} {tour_time}, {guests}명, 음성 안내 "
            "{audio:said으로} 잡아",
        ),
        query="{day:said} {exhibit_id} 해설 관람 {guests}명 예약",
        answer="{exhibit_id} 해설 관람이 {day:said} {tour_time}에 예약되었습니다. 일행 "
        "{guests}명은 "
        "로비의 놋쇠 나침반 아래에서 {curator:을} 만나시면 됩니다. 해설 번호는 {tour_id}입니다.",
        missing=Missing(
            "{exhibit_id} 전시 해설을 음성 안내 {audio:said으로} 예약해",
            "관람 날짜, 시작 시각, 인원",
            "언제, 몇 시에, 몇 분이 오실지 알려 주세요.",
            "{day:said} {tour_time}에 {guests}명이 갈 거예요.",
        ),
        barred=Barred(
            "{exhibit_id} 해설을 밤 9시 반에 {guests}명으로 예약해",
            "해설은 10시부터 17시까지만 가능하나 21시 30분을 요청함",
            "마지막 해설이 오후 다섯 시에 시작하기 때문에 밤 시간에는 예약해 드릴 수 없습니다.",
        ),
    ),
)

PASS = Tool(
    name="buyMuseumPass",
    title=Both("Buy a pass", "관람권 구매"),
    about=Both(
        "Buys a pass for a number of months.", "정해진 기간 동안 쓸 수 있는 관람권을 삽니다."
    ),
    parameters={
        "kind": text("Kind of pass", "관람권 종류", enum=[*PASSES]),
        "months": whole("How many months it is valid", "유효 개월 수", minimum=1, maximum=12),
        "holder": text("Name on the pass", "관람권에 적을 이름"),
    },
    required=("refinedQuery", "kind", "months", "holder"),
    arguments={"kind": "{pass_kind}", "months": "$months", "holder": "{person}"},
    result={
        "passId": "{pass_id}",
        "kind": "{pass_kind}",
        "holder": "{person}",
        "validFrom": "{day}",
        "months": "$months",
        "price": "$tour_price",
        "benefits": [
            Both("Free entry to every hall", "모든 전시실 무료 입장"),
            Both("A tenth off in the bookshop", "서점 10% 할인"),
            Both("Invitations to opening nights", "개막 행사 초대"),
        ],
    },
    twin=("person", "pass_id"),
    missing_keys=("kind", "months"),
    en=Wording(
        asks=(
            "buy a {pass_kind:said} pass for {months} months in the name of {person}",
            "get {person} a {pass_kind:said} museum pass, {months} months",
        ),
        query="Museum pass ({pass_kind:said}, {months} months) for {person}",
        answer="The {pass_kind:said} pass {pass_id} for {person} is valid for {months} months from "
        "{day:said}.",
        missing=Missing(
            "buy {person} a museum pass",
            "Kind of pass, number of months",
            "Which kind (single, family, student or patron), and for how many months?",
            "A {pass_kind:said} pass for {months} months, please.",
        ),
    ),
    ko=Wording(
        asks=(
            "{person} 이름으로 {pass_kind:said} 관람권을 {months}개월짜리로 사",
            "{months}개월 동안 쓸 {pass_kind:said} 관람권을 {person} 앞으로 구매해",
        ),
        query="{person} 명의 {pass_kind:said} 관람권 {months}개월 구매",
        answer="{person} 님의 {pass_kind:said} 관람권({pass_id})이 발급되었습니다. {day:said}부터 "
        "{months}개월 동안 쓰실 수 있습니다.",
        missing=Missing(
            "{person} 이름으로 박물관 관람권을 사",
            "관람권 종류, 개월 수",
            "관람권 종류(1인, 가족, 학생, 후원자)와 이용 기간을 알려 주세요.",
            "{pass_kind:said으로} {months}개월이요.",
        ),
    ),
)

MUSEUM = Agent(
    agent_id="museum_agent",
    name=Both("Museum Guide", "박물관 안내"),
    about=Both(
        "Shows people around the museum of small crafts: exhibits, guided tours and passes.",
        "작은 공예 박물관의 전시와 해설, 관람권을 안내합니다.",
    ),
    tools=(SEARCH, TOUR, PASS),
    slots=SLOTS,
)
