"""Many machines: rounds by the number of groups, what a round costs, and what a death changes.

    python benchmarks/bench_dask.py rounds [--quick] [--sets digits,letter]
    python benchmarks/bench_dask.py overhead
    python benchmarks/bench_dask.py model
    python benchmarks/bench_dask.py deaths

`--record` keeps what was measured for the documentation. See `dask_rounds`, `dask_overhead`,
`dask_model` and `dask_deaths` for what is done.
"""

from __future__ import annotations

import argparse

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("rounds", "overhead", "model", "deaths"))
    parser.add_argument("--quick", action="store_true", help="digits and few groups")
    parser.add_argument("--sets", default="")
    parser.add_argument("--groups", default="")
    parser.add_argument("--record", action="store_true", help="write docs/recorded/dask_*.json")
    arguments = parser.parse_args()
    if arguments.what == "rounds":
        import dask_rounds

        sets = arguments.sets.split(",") if arguments.sets else list(dask_rounds.ROWS)
        groups = [int(k) for k in arguments.groups.split(",") if k] or list(dask_rounds.GROUPS)
        if arguments.quick:
            sets, groups = ["digits"], [1, 8]
        dask_rounds.count_rounds(sets, groups, arguments.record)
    elif arguments.what == "overhead":
        import dask_overhead

        dask_overhead.measure(arguments.record)
    elif arguments.what == "model":
        import dask_model

        dask_model.model(arguments.record)
    else:
        import dask_deaths

        dask_deaths.count_deaths(arguments.record)
