"""The observatory: night skies and telescopes."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    date,
    decimal,
    record,
    text,
)
from orchbench_analytics.demo.slots import Both, Choice, Clock, Code, Number, Rows, Slot, Terms

KINDS = {
    "planet": Both("planet", "행성"),
    "nebula": Both("nebula", "성운"),
    "double_star": Both("double star", "쌍성"),
    "comet": Both("comet", "혜성"),
}
SLOTS: dict[str, Slot] = {
    "site": Choice(
        ("Cairn Top", "the lake dome", "Windmill Rise", "the school roof"),
        ("돌탑 마루", "호숫가 돔", "풍차 언덕", "학교 옥상"),
    ),
    "target": Choice(
        ("the Old Lamp", "Vesk's Light", "Marrow 12", "the Pale Wanderer", "Little Ember"),
        ("옛등불", "가람의 빛", "너울 12호", "하얀 나그네", "작은 불씨"),
    ),
    "target_kind": Terms(KINDS),
    "telescope_id": Code("TS-##"),
    "slot_id": Code("OB-####"),
    "observe_hours": Number(1.5, 4, 0.5),
    "rises_at": Clock(18, 23),
    "cloud": Number(0.05, 0.95, 0.05),
    "magnitude": Number(1, 9, 0.1),
    "seeing": Choice(("steady", "fair", "restless"), ("안정", "보통", "흔들림")),
}

FORECAST = Tool(
    name="getSkyForecast",
    title=Both("Sky forecast", "밤하늘 예보"),
    about=Both(
        "Says how clear the sky will be at a site and what can be seen.",
        "관측 장소의 하늘이 얼마나 맑을지, 무엇을 볼 수 있는지 알려 줍니다.",
    ),
    parameters={
        "site": text("Where to observe", "관측 장소"),
        "night": date("Date of the evening, YYYY-MM-DD", "저녁 날짜(YYYY-MM-DD)"),
        "kind": text("What to look for", "보고 싶은 천체 종류", enum=[*KINDS]),
        "minimumMagnitude": decimal("Leave out what is fainter", "이보다 어두운 천체 제외"),
    },
    required=("refinedQuery", "site", "night"),
    arguments={"site": "{site}", "night": "{day}", "kind": "{target_kind}"},
    result={
        "site": "{site}",
        "night": "{day}",
        "cloudCover": "$cloud",
        "visible": Rows(
            4,
            {
                "object": "{target}",
                "kind": "{target_kind}",
                "risesAt": "{rises_at}",
                "magnitude": "$magnitude",
                "seeing": "{seeing}",
            },
        ),
        "advice": Both(
            "Allow your eyes twenty minutes in the dark, and bring a red torch.",
            "눈이 어둠에 익숙해지도록 20분쯤 기다리고, 붉은 손전등을 챙기세요.",
        ),
    },
    varies=("target", "rises_at", "magnitude", "seeing"),
    twin=("site",),
    missing_keys=("site", "night"),
    en=Wording(
        asks=(
            "check the night sky over {site} on {day:said}, {target_kind:said} first",
            "tell me how clear it will be at {site} on {day:said} for a {target_kind:said}",
        ),
        query="Sky over {site} on the night of {day:said}",
        answer="The night of {day:said} at {site} (cloud cover {cloud}):",
        line="{target}, rises at {rises_at}, magnitude {magnitude}, air {seeing}",
        missing=Missing(
            "check whether a {target_kind:said} can be seen soon",
            "Observation site, date",
            "From which site, and on which evening?",
            "From {site}, on {day:said}.",
        ),
    ),
    ko=Wording(
        asks=(
            "{day:said} 밤에 {site}에서 {target_kind:said을} 볼 수 있을지 하늘 상태를 알려",
            "{site}의 {day:said} 밤하늘 예보를 {target_kind:said} 위주로 확인해",
        ),
        query="{day:said} 밤 {site} 하늘 예보",
        answer="{day:said} 밤 {site}의 하늘입니다(구름 양 {cloud}).",
        line="{target}: {rises_at}에 뜸, {magnitude}등급, 대기 {seeing}",
        missing=Missing(
            "곧 {target_kind:said을} 볼 수 있을지 확인해",
            "관측 장소, 날짜",
            "어디에서, 어느 날 저녁에 보고 싶으신가요?",
            "{day:said}에 {site}에서 보려고요.",
        ),
    ),
)

TELESCOPE = Tool(
    name="reserveTelescope",
    title=Both("Reserve a telescope", "망원경 예약"),
    about=Both(
        "Reserves a telescope for a night; at most 4 hours, and never pointed at the sun.",
        "하룻밤 망원경을 예약합니다. 최대 4시간이며 태양은 관측할 수 없습니다.",
    ),
    parameters={
        "telescopeId": text(
            "Telescope, such as TS-12", "망원경 번호(예: TS-12)", pattern=r"^TS-\d{2}$"
        ),
        "night": date("Date of the evening, YYYY-MM-DD", "저녁 날짜(YYYY-MM-DD)"),
        "hours": decimal("For how many hours", "이용 시간"),
        "target": record(
            "What it is pointed at",
            "관측할 천체",
            {
                "name": text("Name", "이름"),
                "kind": text("Kind", "종류", enum=[*KINDS]),
            },
        ),
    },
    required=("refinedQuery", "telescopeId", "night", "hours"),
    arguments={
        "telescopeId": "{telescope_id}",
        "night": "{day}",
        "hours": "$observe_hours",
        "target": {"name": "{target}", "kind": "{target_kind}"},
    },
    result={
        "slotId": "{slot_id}",
        "telescopeId": "{telescope_id}",
        "night": "{day}",
        "startsAt": "{rises_at}",
        "hours": "$observe_hours",
        "site": "{site}",
        "keyholder": "{person}",
        "rules": Both(
            "Close the dome when the wind rises; write what you saw into the night book.",
            "바람이 거세지면 돔을 닫고, 관측한 것은 밤 기록장에 적어 주세요.",
        ),
    },
    twin=("telescope_id", "slot_id"),
    missing_keys=("telescopeId", "hours"),
    en=Wording(
        asks=(
            "reserve telescope {telescope_id} on {day:said} for {observe_hours} hours to look at "
            "{target}, a {target_kind:said}",
            "get me {observe_hours} hours at {telescope_id} on {day:said}; I want to see {target} "
            "({target_kind:said})",
        ),
        query="Telescope {telescope_id} on {day:said} for {observe_hours} hours",
        answer="Telescope {telescope_id} is yours on {day:said} from {rises_at} for "
        "{observe_hours} hours (slot {slot_id}). {person} holds the key.",
        missing=Missing(
            "reserve a telescope on {day:said} so that I can see {target}, a {target_kind:said}",
            "Telescope number, number of hours",
            "Which telescope would you like, and for how long?",
            "Number {telescope_id}, for {observe_hours} hours.",
        ),
        barred=Barred(
            "reserve {telescope_id} for {day:said} at noon, I want to look straight at the sun",
            "Telescopes are never pointed at the sun",
            "The telescopes must not be pointed at the sun, so I cannot reserve that.",
        ),
    ),
    ko=Wording(
        asks=(
            "{day:said}에 망원경 {telescope_id:을} {observe_hours}시간 예약해서 {target_kind:said} "
            "{target:을} 보게 해",
            "{target}({target_kind:said}) 관측용으로 {telescope_id:을} {day:said}에 "
            "{observe_hours}시간 잡아",
        ),
        query="{day:said} 망원경 {telescope_id} {observe_hours}시간 예약",
        answer="망원경 {telescope_id} 예약이 완료되었습니다. {day:said} {rises_at}부터 "
        "{observe_hours}시간이며(예약 {slot_id}), 열쇠는 {person} 님이 가지고 있습니다.",
        missing=Missing(
            "{day:said}에 {target_kind:said} {target:을} 볼 수 있게 망원경을 예약해",
            "망원경 번호, 이용 시간",
            "어느 망원경을 몇 시간 쓰실 건가요?",
            "{telescope_id}번으로 {observe_hours}시간이요.",
        ),
        barred=Barred(
            "{day:said} 한낮에 태양을 바로 볼 수 있게 {telescope_id:을} 예약해",
            "망원경으로 태양을 관측할 수 없음",
            "망원경을 태양 쪽으로 돌리는 것은 금지되어 있어 예약해 드릴 수 없습니다.",
        ),
    ),
)

OBSERVATORY = Agent(
    agent_id="observatory_agent",
    name=Both("Observatory", "천문대"),
    about=Both(
        "Forecasts the night sky and lends out the telescopes.",
        "밤하늘을 예보하고 망원경을 빌려줍니다.",
    ),
    tools=(FORECAST, TELESCOPE),
    slots=SLOTS,
)
