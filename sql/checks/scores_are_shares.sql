-- Every metric lies between 0 and 1.
select
    profile, model, experiment, language,
    cast(null as varchar) as scenario,
    metric as figure,
    case when score < 0 then 0 else 1 end as expected,
    score as found
from main.metric_scores
where score < 0 or score > 1
