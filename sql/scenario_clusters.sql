-- Which scenarios go together, so that statistics do not take them for independent.
-- grain: language, scenario
-- Scenarios of different languages are translations of each other if their labels ask for the same
-- agents and tools in the same order, and no other scenario of either language asks for these. A
-- scenario whose labels differ between models has no partner.
with

scenarios as (select * from main.scenarios),

reported_scenarios as (select * from main.reported_scenarios),

labelled as materialized (
    select
        language, scenario,
        min(label_signature) as label_signature,
        max(label_signature) as other_signature
    from scenarios
    group by language, scenario
),

known as (
    select language, scenario
    from labelled
    union
    select language, scenario
    from reported_scenarios
),

signed as (
    select language, scenario, label_signature
    from labelled
    where label_signature = other_signature
),

singular as (
    select
        language, label_signature,
        min(scenario) as scenario
    from signed
    group by language, label_signature
    having count(*) = 1
),

partners as (
    select
        label_signature,
        min(concat(language, '/', scenario)) as cluster,
        count(*) as cluster_scenario_count
    from singular
    group by label_signature
    having count(*) > 1
),

clustered as (
    select
        known.language, known.scenario,
        coalesce(partners.cluster, concat(known.language, '/', known.scenario)) as cluster,
        coalesce(partners.cluster_scenario_count, 1) as cluster_scenario_count,
        case
            when partners.cluster is null then 'alone'
            else 'translation'
        end as cluster_basis
    from known
    left join singular using (language, scenario)
    left join partners on singular.label_signature = partners.label_signature
)

select * from clustered
