"""Parameters of GRPO that tests start from."""

from sqldojo.training.guards import Guards
from sqldojo.training.selection import SelectionParams

GUARDS = Guards(
    optimizer_needs_signal=True, bias_correction=True, standardise_advantages=False, right_answer_needed=True,
    draw_by_signal=True, mastered_floor=0.1, negative_weight=0.5, cut_off="masked", loss_on="actions", clip_low=0.2,
    clip_high=0.28, importance_cap=2.0, kl_weight=0.005, kl_limit=100.0, dlogp_limit=0.2, entropy_floor=0.0,
    length_alarm=100.0, replay_weight=0.1,
)  # fmt: skip
SELECTION = SelectionParams(every=2, attempts=1, patience=100, keep="last", accuracy_floor_drop=1.0)
