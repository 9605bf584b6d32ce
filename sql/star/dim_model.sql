-- The models, one for each experiment, with their tags.
-- grain: model_sk
select
    model_key(model, experiment) as model_sk,
    model, experiment,
    model || ' / ' || experiment as model_label,
    * exclude (model, experiment)
from main.model_tags
