#!/bin/sh
# The wheel as a new user has it: a fresh environment, a directory that is not the checkout.
set -eu
wheel=$(ls "$(cd "$1" && pwd)"/*.whl)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
"${PYTHON:-python3}" -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "$wheel[notebook]"
env/bin/orchbench demo demo
env/bin/orchbench show demo/warehouse graded-3 >shown.txt
env/bin/orchbench report demo/warehouse report.html
for notebook in tour compare; do
    env/bin/marimo export html "demo/notebooks/$notebook.py" -o "$notebook.html" --no-include-code \
        -- --warehouse demo/warehouse
done
test -s shown.txt && test -s report.html && test -s tour.html && test -s compare.html
echo "the demo, the report and the notebooks work from $(basename "$wheel")"
