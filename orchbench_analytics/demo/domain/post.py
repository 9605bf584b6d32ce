"""The letter desk: postcards and reminders."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    date,
    listing,
    text,
)
from orchbench_analytics.demo.slots import Both, Choice, Clock, Code, Slot, Terms

STAMPS = {
    "plain": Both("plain", "보통"),
    "express": Both("express", "빠른"),
    "keepsake": Both("keepsake", "기념"),
}
SLOTS: dict[str, Slot] = {
    "friend": Choice(
        ("Bea Larkin", "Uncle Soren", "Mrs Abara", "Theo Wick", "the rowing club"),
        ("소라 이모", "준서네", "옆집 도담 할머니", "마루 선배", "노젓기 모임"),
    ),
    "friend_2": Choice(("Captain Ruiz", "cousin Ada"), ("선장 아저씨", "사촌 여울이")),
    "note": Choice(
        ("We are coming as planned, keep the kettle warm", "All arranged, meet us at the clock"),
        ("계획대로 갈 테니 물 좀 끓여 놔", "다 준비됐으니 시계탑 앞에서 만나자"),
    ),
    "stamp": Terms(STAMPS),
    "card_id": Code("PC-####"),
    "reminder_id": Code("RM-####"),
    "remind_at": Clock(7, 20),
    "chore": Choice(
        ("pack the rain coats", "charge the lantern", "bring the tickets", "feed the cat"),
        ("비옷 챙기기", "손전등 충전하기", "표 챙기기", "고양이 밥 주기"),
    ),
}

CARD = Tool(
    name="sendPostcard",
    title=Both("Send a postcard", "엽서 보내기"),
    about=Both(
        "Writes and posts a postcard; at most 5 recipients and 200 characters.",
        "엽서를 써서 부칩니다. 받는 사람은 5명, 글은 200자까지입니다.",
    ),
    parameters={
        "recipients": listing("Who gets it", "받는 사람", {"type": "string"}),
        "message": text("What it says", "내용"),
        "stamp": text("Kind of post", "우편 종류", enum=[*STAMPS]),
    },
    required=("refinedQuery", "recipients", "message"),
    arguments={
        "recipients": ["{friend}", "{friend_2}"],
        "message": "{note}",
        "stamp": "{stamp}",
    },
    result={
        "postcardId": "{card_id}",
        "recipients": ["{friend}", "{friend_2}"],
        "message": "{note}",
        "stamp": "{stamp}",
        "arrivesOn": "{day}",
        "status": "posted",
    },
    twin=("friend", "note", "card_id"),
    missing_keys=("recipients", "message"),
    en=Wording(
        asks=(
            "send a {stamp:said} postcard to {friend} and {friend_2} saying '{note}'",
            "write to {friend} and {friend_2} by {stamp:said} post: '{note}'",
        ),
        query="Postcard to {friend} and {friend_2}",
        answer="The postcard to {friend} and {friend_2} is in the post ({card_id}) and should "
        "arrive "
        "on {day:said}.",
        missing=Missing(
            "send a {stamp:said} postcard for me",
            "Recipients, message",
            "To whom, and what should it say?",
            "To {friend} and {friend_2}: '{note}'.",
        ),
        barred=Barred(
            "send a {stamp:said} postcard saying '{note}' to all 80 people of the village",
            "At most 5 recipients, 80 were asked for",
            "A postcard goes to five people at most; for the whole village the notice board is "
            "the better place.",
        ),
    ),
    ko=Wording(
        asks=(
            "{friend:과} {friend_2}에게 {stamp:said} 우편으로 '{note}'라고 엽서를 보내",
            "'{note}'라고 적은 엽서를 {stamp:said} 우편으로 {friend:과} {friend_2}에게 부쳐",
        ),
        query="{friend}, {friend_2}에게 엽서 보내기",
        answer="{friend:과} {friend_2}에게 보내는 엽서({card_id})를 부쳤습니다. {day:said}에 "
        "도착할 "
        "예정입니다.",
        missing=Missing(
            "{stamp:said} 우편으로 엽서 한 장 보내",
            "받는 사람, 내용",
            "누구에게 어떤 내용으로 보낼까요?",
            "{friend:과} {friend_2}에게 '{note}'라고 써 주세요.",
        ),
        barred=Barred(
            "'{note}'라고 쓴 {stamp:said} 엽서를 마을 사람 80명 모두에게 보내",
            "받는 사람은 최대 5명이나 80명을 요청함",
            "엽서는 다섯 분까지만 보낼 수 있습니다. 마을 전체에 알리시려면 게시판을 이용해 주세요.",
        ),
    ),
)

REMIND = Tool(
    name="setReminder",
    title=Both("Set a reminder", "알림 맞추기"),
    about=Both("Rings at a time of a day.", "정해진 날과 시각에 알려 줍니다."),
    parameters={
        "date": date("Day, YYYY-MM-DD", "날짜(YYYY-MM-DD)"),
        "time": text("Time, HH:MM", "시각(HH:MM)", pattern=r"^\d{2}:\d{2}$"),
        "about": text("What to remember", "잊지 말아야 할 일"),
    },
    required=("refinedQuery", "date", "time", "about"),
    arguments={"date": "{day}", "time": "{remind_at}", "about": "{chore}"},
    result={
        "reminderId": "{reminder_id}",
        "date": "{day}",
        "time": "{remind_at}",
        "about": "{chore}",
        "status": "set",
    },
    twin=("chore", "remind_at", "reminder_id"),
    missing_keys=("date", "time"),
    en=Wording(
        asks=(
            "remind me on {day:said} at {remind_at} to {chore}",
            "set a reminder to {chore} for {day:said} at {remind_at}",
        ),
        query="Reminder to {chore} on {day:said} at {remind_at}",
        answer="I will remind you on {day:said} at {remind_at} to {chore} ({reminder_id}).",
        missing=Missing(
            "remind me to {chore}",
            "Date, time",
            "On which day, and at what time?",
            "On {day:said} at {remind_at}.",
        ),
    ),
    ko=Wording(
        asks=(
            "{day:said} {remind_at}에 '{chore}' 알림을 맞춰",
            "{day:said} {remind_at}에 '{chore}' 잊지 않게 알려",
        ),
        query="{day:said} {remind_at} '{chore}' 알림 설정",
        answer="{day:said} {remind_at}에 '{chore}' 알림이 울립니다({reminder_id}).",
        missing=Missing(
            "'{chore}' 알림을 맞춰",
            "날짜, 시각",
            "어느 날 몇 시에 알려 드릴까요?",
            "{day:said} {remind_at}에요.",
        ),
    ),
)

POST = Agent(
    agent_id="post_agent",
    name=Both("Letter Desk", "편지 창구"),
    about=Both(
        "Writes postcards and remembers things for people.",
        "엽서를 써서 부치고, 잊기 쉬운 일을 대신 기억해 줍니다.",
    ),
    tools=(CARD, REMIND),
    slots=SLOTS,
)
