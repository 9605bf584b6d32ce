"""The words between the requests, in English and in Korean."""

from typing import NamedTuple


class Phrases(NamedTuple):
    """What holds a dialogue together; `{}` is where a request goes."""

    opening: tuple[str, ...]
    first: tuple[str, ...]
    further: tuple[str, ...]
    dependent: tuple[str, ...]
    system: str
    bare: str
    closing: tuple[str, ...]
    chatter: tuple[str, ...]
    thought: tuple[str, ...]
    preamble: tuple[str, ...]
    please: str
    unsure: str


EN = Phrases(
    opening=("", "", "Good morning! ", "Hello there. ", "I am planning a little something. "),
    first=("Could you {}?", "Please {}.", "I would like you to {}.", "Can you {}?"),
    further=("Also, please {}.", "While you are at it, {}.", "And could you {}?", "Then {}."),
    dependent=(
        "Once that is settled, {}.",
        "When you know that, {}.",
        "Going by what you find, {}.",
    ),
    system="date: {date}\nname: {name}\nwhere: {where}",
    bare="{} needed",
    closing=(
        "Is there anything else I can do for you?",
        "Tell me if you would like any of this changed.",
        "Have a lovely time!",
    ),
    chatter=(
        "What a nice idea! I hope you have a wonderful time.",
        "Let me think about that for a while.",
        "Of course. I am always happy to help.",
        "The weather on the coast is lovely at this time of the year.",
        "One moment, please.",
    ),
    thought=(
        "The user wants {several} things at once; first see what depends on what.",
        "Which tool fits here? Check the required arguments before calling.",
    ),
    preamble=("Here is the plan.", "Sure.", "This is how I would go about it:"),
    please="please",
    unsure="I am not certain which {} you mean",
)

KO = Phrases(
    opening=("", "", "안녕하세요. ", "계획하고 있는 일이 있어요. "),
    first=("{} 주세요.", "{} 주실 수 있나요?", "혹시 {} 주시겠어요?"),
    further=("그리고 {} 주세요.", "또 {} 주세요.", "하는 김에 {} 주시면 좋겠어요."),
    dependent=("그게 정해지면 {} 주세요.", "확인되는 대로 {} 주세요.", "그 결과를 보고 {} 주세요."),
    system="날짜: {date}\n이름: {name}\n위치: {where}",
    bare="{} 정보가 필요합니다",
    closing=(
        "더 도와드릴 일이 있을까요?",
        "바꾸고 싶은 점이 있으면 말씀해 주세요.",
        "즐거운 시간 보내세요!",
    ),
    chatter=(
        "좋은 생각이네요! 즐거운 시간이 되시길 바랍니다.",
        "잠깐 생각해 보겠습니다.",
        "물론이죠. 언제든 기꺼이 도와드릴게요.",
        "요즘 바닷가 날씨가 참 좋습니다.",
        "잠시만 기다려 주세요.",
    ),
    thought=(
        "사용자가 {여러} 가지를 한꺼번에 원한다. 먼저 선후 관계를 살펴보자.",
        "어떤 도구가 맞을까? 호출하기 전에 필수 인자를 확인하자.",
    ),
    preamble=("계획은 다음과 같습니다.", "네, 알겠습니다.", "이렇게 진행하겠습니다:"),
    please="부탁해요",
    unsure="어떤 {}인지 확실하지 않습니다",
)

PHRASES = {"EN": EN, "KO": KO}
