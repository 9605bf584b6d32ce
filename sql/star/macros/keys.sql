-- Surrogate keys: integers below 2^53, which every program can hold, made from the names
-- themselves. So the same thing has the same key in every export, whatever else is in it.

-- The key of a list of texts.
create or replace macro surrogate_key(names) as
    cast(md5_number_lower(cast(to_json(names) as varchar)) // 2048 as bigint);

-- The key of a profile.
create or replace macro profile_key(profile) as
    surrogate_key([profile]);

-- The key of a model in an experiment.
create or replace macro model_key(model, experiment) as
    surrogate_key([model, experiment]);

-- The key of a scenario in a language.
create or replace macro scenario_key(language, scenario) as
    surrogate_key([language, scenario]);

-- The key of a step or plan of a run; of several answers to one step each has its own.
create or replace macro entry_key(
    model, experiment, language, scenario, run, step_id, answer_position
) as
    surrogate_key([
        model, experiment, language, scenario, run, step_id, cast(answer_position as varchar)
    ]);

-- Calls as people write them: name(arguments), in place of JSON in JSON.
create or replace macro readable_calls(calls) as
    case
        when json_type(calls) = 'ARRAY'
            then array_to_string(
                list_transform(
                    cast(cast(calls as json) as json[]),
                    lambda call: coalesce(call ->> '$.name', call ->> '$.flat.name', '?')
                    || '('
                    || coalesce(call ->> '$.arguments', call ->> '$.flat.arguments', '')
                    || ')'
                ),
                chr(10)
            )
    end;
