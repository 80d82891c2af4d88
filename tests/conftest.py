"""Settings for the whole test suite."""

import gc
import os
import sys
from functools import cache
from pathlib import Path

import pytest

# Before anything imports matplotlib: tests draw without a display.
os.environ["MPLBACKEND"] = "Agg"

# Tests look at what is printed, and run in as many processes as there are cores: no word about compiling, no helpers.
os.environ.setdefault("ANGUILLA_COMPILING", "silent")
os.environ.setdefault("ANGUILLA_COMPILERS", "1")

# Tests start many a Python. Where it is told to write no bytecode, each would compile all the sources it imports anew,
# two to three seconds of them: here they share a folder that the next run finds again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# What collecting tests makes lives as long as the process: looking for garbage in it takes an eighth of the time.
gc.disable()

# Groups of tests that take long, the longest first, so that the processes end together; what takes a moment comes last.
LONG = (
    "gradients", "fem", "faults", "multibody", "contact", "mixed", "shooting", "cli", "control", "linear",
    "validation_dynamics", "toolbox", "solve", "test_docs_blocks", "identification",
    "store", "many", "soak", "validation_statics", "view",
)  # fmt: skip
# Single tests of seconds, whose truth others share in the small; `pytest -m slow` and `make validate` run them.
SLOW = {
    "test_a_kill_loses_nothing": ("simulate", "ending", "checkpoint", "sweep"),
    "test_a_few_interruptions_lose_nothing": ("simulate",),
    "test_rods_clamped_end_to_end_are_one_rod": ("6",),
    "test_gradients_and_sensitivities_of_motions": ("swimmer",),
    "test_starts": ("swimmer",),
    "test_a_notebook_runs": ("1_first_arm",),
    "test_the_demo_needs_none_of_what_plain_use_does_without": ("with figures",),
    "test_one_robot_passes_the_checker": ("Crawl",),
    "test_a_page_does_what_it_shows": ("docs/command_line.md", "docs/howto/pictures.md", "docs/howto/identify.md"),
    "test_example_runs_and_its_figures_are_small": (
        "draped_rod", "computed_torque", "track_eight", "lumen", "snake_on_the_ground", "gradient_taper",
        "gradient_identify", "paper000_test2_follower_force", "paper000_test4_release", "paper003_test1_tendon_arm",
        "paper004_flying_rods",
    ),
    "test_discs_are_where_rods_between_straight_tendons_put_them": ("light",),
    "test_the_arm_keeps_real_time_while_inputs_move": ("",),
    "test_a_simulation_that_is_too_slow_reports_its_lateness": ("",),
    "test_noisy_measurements_with_gaps_within_one_per_cent": ("",),
    "test_several_starts_find_the_best_of_several_minima": ("",),
    "test_first_integrals_in_vacuum_for_a_short_while": ("",),
    "test_projective_flow_reaches_the_solution_of_the_boundary_value_problem": ("",),
    "test_all_gaits_swim": ("",),
    "test_trees_with_bodies_and_tendons_agree_with_the_core": ("",),
    "test_the_hinged_string_is_a_chain_of_many_links": ("",),
    "test_ilqr_swings_a_soft_pendulum_up": ("",),
    "test_mpc_draws_with_a_payload_that_it_does_not_know": ("",),
    "test_true_and_wrong_models": ("",),
    "test_robots_in_a_process_give_the_same_bits": ("",),
    "test_explicit_motion_of_a_free_rod_keeps_its_momentum": ("",),
    "test_processes_that_compile_at_once_do_not_disturb_each_other": ("",),
    "test_workers_do_not_outlive_a_killed_parent": ("",),
    "test_values_of_cells_show_themselves_once": ("",),
    "test_a_user_load_jumps_where_declared": ("",),
    "test_the_taper_is_that_of_the_calculus_of_variations": ("",),
    "test_identification_recovers_the_modulus_from_noisy_data": ("",),
    "test_gradient_of_an_eased_start": ("hand",),
    "test_bristles_carry_sensitivities_forth": ("parts-slips", "obstacle-holds"),
    "test_the_gradient_of_a_whole_problem": ("",),
}  # fmt: skip
SHOWN = "examples", "test_docs_blocks", "test_readme"  # what users see: warned of nothing, few modes included
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A folder of tests is run by one process, which makes its fixtures once; the other compiles other kernels meanwhile."""
    place = {name: number for number, name in enumerate(LONG)}

    @cache
    def room(path):
        return path.relative_to(Path(__file__).parent).parts[0].removesuffix(".py")

    def group(item):
        found = item.get_closest_marker("xdist_group")
        return found.args[0] if found else room(item.path)

    for item in items:
        name, _, given = item.name.removesuffix("]").partition("[")
        if given in SLOW.get(name, ()):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group(item)))
        if group(item) in SHOWN:
            item.add_marker(pytest.mark.filterwarnings("error::anguilla.errors.AnguillaWarning"))
    items.sort(key=lambda item: place.get(group(item), len(place)))


def compile_kernels(order):
    """Compile what most tests need, in one of two orders, so that two processes share the work and do not wait."""
    from anguilla.solve.steps.ahead import compile_all

    usual = os.environ["ANGUILLA_COMPILERS"]
    os.environ["ANGUILLA_COMPILERS"] = order
    compile_all()
    os.environ["ANGUILLA_COMPILERS"] = usual


def pytest_sessionstart():
    if WORKER not in ("", "gw0"):
        compile_kernels("helper")


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()
    if WORKER == "gw0":  # which has prepared the test files for all
        compile_kernels("1")
