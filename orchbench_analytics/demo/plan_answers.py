"""How a model plans: the label's plan, its own mistakes, its own way of writing."""

import json

from orchbench_analytics.demo.agent import Agent
from orchbench_analytics.demo.breakage import break_plan
from orchbench_analytics.demo.labels import Document, PlanLabel, Workflow
from orchbench_analytics.demo.luck import Luck
from orchbench_analytics.demo.models import Model, PlanForm
from orchbench_analytics.demo.world import Phrases, World
from orchbench_analytics.demo.yaml_text import to_yaml

STATUSES = ("pending", "completed", "canceled")


def answer_plan(label: PlanLabel, model: Model, luck: Luck, world: World) -> list[Document]:
    """The entries a model leaves for a planning step, usually one."""
    words = world.phrases
    if luck.strikes(model.no_plan):
        return [_entry(label.step, luck.pick(words.chatter))]
    plan = _planned(label.workflows, model, luck, world.agents)
    text = _written(plan, luck.pick(model.plan_forms), luck, words)
    if luck.strikes(model.thinks):
        text = f"<think>\n{luck.pick(words.thought)}\n</think>\n\n{text}"
    entry = _entry(label.step, text)
    if luck.strikes(model.broken):
        return break_plan(entry, plan, luck, words, everything=model.breaks_everything)
    return [entry]


def _entry(step: int, content: str) -> Document:
    return {"step_id": step, "role": "assistant", "content": content, "tool_calls": []}


def _planned(
    workflows: tuple[Workflow, ...],
    model: Model,
    luck: Luck,
    agents: tuple[Agent, ...],
) -> Document:
    """The plan with this model's mistakes in it, in the form the benchmark's prompt asks for."""
    plan: Document = {}
    for workflow in workflows:
        if len(workflows) > 1 and luck.strikes(model.lost_workflow):
            continue
        steps = []
        for step in workflow.steps:
            agent_id = step.agent_id
            if luck.strikes(model.wrong_agent):
                others = [a.agent_id for a in agents if a.agent_id != agent_id]
                agent_id = luck.pick(others)
            status = step.status
            if luck.strikes(model.wrong_status):
                status = luck.pick([s for s in STATUSES if s != status])
            steps.append({"status": status, "agent_id": agent_id, "refined_query": step.query})
        after = [name for name in workflow.after if not luck.strikes(model.lost_dependency)]
        if plan and not workflow.after and luck.strikes(model.extra_dependency):
            after = [luck.pick([*plan])]
        status = steps[-1]["status"] if len(steps) == 1 else workflow.status
        plan[workflow.name] = _workflow(status, after, steps)
    if not plan or luck.strikes(model.extra_workflow):
        extra = {
            "status": "pending",
            "agent_id": luck.pick(agents).agent_id,
            "refined_query": workflows[-1].steps[-1].query,
        }
        plan[f"workflow_{len(workflows) + 1}"] = _workflow("pending", [], [extra])
    return plan


def _workflow(status: str, after: list[str], steps: list[dict[str, str]]) -> Document:
    body: Document = {"status": status, "type": "dependent" if after else "independent"}
    if after:
        body["depends_on"] = after
    body["steps"] = steps
    return body


def _written(plan: Document, form: PlanForm, luck: Luck, words: Phrases) -> str:
    match form:
        case PlanForm.JSON:
            return json.dumps(plan, ensure_ascii=False)
        case PlanForm.INDENTED_JSON:
            return json.dumps(plan, ensure_ascii=False, indent=2)
        case PlanForm.FENCED_JSON:
            return f"```json\n{json.dumps(plan, ensure_ascii=False, indent=2)}\n```"
        case PlanForm.FENCED_YAML:
            return f"```yaml\n{to_yaml(plan)}\n```"
        case PlanForm.PROSE_JSON:
            return f"{luck.pick(words.preamble)} {json.dumps(plan, ensure_ascii=False)}"
        case PlanForm.YAML:
            return to_yaml(plan) + "\n"
