# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/ir_layers: some of ir_cases.py as IR files that hold what they are given and what OpenVINO makes of it.

ir_store.py FOLDER. A file has the layers of one group. Input `in0` of case "roll" is Parameter "roll.in0" and Const
"roll.in0.value"; the output is Result "roll", what it must be is Const "roll.value".
"""

import pathlib
import sys

import numpy as np
import openvino as ov
from ir_cases import CASES
from ir_values import DOCUMENTED
from openvino import opset16 as op

GROUPS = {
    "adaptive_pool": ["adaptive_avg_pool", "adaptive_avg_pool_global", "adaptive_max_pool_0", "adaptive_max_pool_1"],
    "blocks": ["batch_to_space", "space_to_batch", "extract_image_patches_valid", "extract_image_patches_same_lower"],
    "col2im": ["col2im", "col2im_single", "roll", "roll_dynamic", "slice_scatter", "slice_scatter_all"],
    "ctc": ["ctc_greedy_True", "ctc_greedy_False", "ctc_greedy_seq_len_True_0", "ctc_greedy_seq_len_True_1"]
    + ["ctc_greedy_blank_0", "ctc_greedy_blank_1"],
    "deconvolution": ["deconvolution_shape_explicit", "deconvolution_shape_same_upper", "deconvolution_shape_same_lower"]
    + ["deconvolution_shape_pads"],
    "dft": ["dft", "dft_size", "idft", "rdft", "rdft_size", "irdft", "irdft_size"],
    "embedding": ["embedding_bag_packed_weights", "embedding_bag_packed_mean", "embedding_bag_offsets_sum"]
    + ["embedding_bag_offsets_mean", "embedding_bag_offsets_default", "embedding_segments", "embedding_segments_3"],
    "grid_sample": ["grid_sample_bilinear_zeros", "grid_sample_bicubic_border", "grid_sample_nearest_reflection"]
    + ["roi_align", "roi_align9_half_pixel", "roi_align9_half_pixel_for_nn"],
    "interpolate": ["interpolate1_nearest_False_14", "interpolate1_linear_True_3", "interpolate_nearest_scales"]
    + ["interpolate_nearest_ceil_tf_half_pixel_for_nn_14", "interpolate_linear_half_pixel_14_True"]
    + ["interpolate_bilinear_pillow_3", "interpolate_bicubic_pillow_3", "interpolate_pads"],
    "istft": ["istft_True_False", "istft_False_True", "istft_vector", "istft_length_20", "istft_length_60"],
    "moved": ["pad_symmetric", "broadcast_explicit", "broadcast_explicit_two", "reverse_sequence_axes", "gather_tree"],
    "non_max_suppression": [f"non_max_suppression_{d}_{i}" for d in (True, False) for i in range(3)]
    + [f"non_max_suppression5_{i}" for i in range(3)],
    "scatter": ["scatter_elements_mean_True_float32", "scatter_elements_mean_False_int32"]
    + [f"scatter_elements_{mode}_False_float32" for mode in ("sum", "prod", "min", "max")],
    "search": ["bucketize_True", "bucketize_False", "bucketize_types", "search_sorted_True", "search_sorted_False"]
    + ["search_sorted_vector"] + [f"unique_{i}" for i in range(4)] + [f"unique_axis_{i}" for i in range(4)],
    "simple": ["grn", "fake_convert_f8e4m3", "fake_convert_f8e5m2", "fake_convert_scale", "shift_left_int8"]
    + ["shift_right_int32", "shift_right_int64", "shift_left_uint32"],
    "stft": ["stft_True", "stft_False", "stft_vector"],
}  # fmt: skip


def add_case(name, parameters, results):
    make, inputs = CASES[name]
    given = [op.parameter(list(x.shape), x.dtype, name=f"{name}.in{i}") for i, x in enumerate(inputs)]
    output = make(*given)
    output = output if isinstance(output, ov.Output) else output.output(0)
    output.set_names({name})
    model = ov.Model([op.result(output)], given, name)
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2})
    expected = DOCUMENTED.get(name, compiled(inputs)[0])
    parameters += given
    results.append(model.results[0])
    values = [(f"{name}.in{i}.value", x) for i, x in enumerate(inputs)] + [(f"{name}.value", expected)]
    for key, value in values:
        constant = op.constant(np.array(value), name=key)
        constant.output(0).set_names({key})
        results.append(op.result(constant))


def main(folder):
    for group, names in GROUPS.items():
        parameters, results = [], []
        for name in names:
            add_case(name, parameters, results)
        ov.serialize(ov.Model(results, parameters, group), pathlib.Path(folder) / f"{group}.xml")


if __name__ == "__main__":
    main(sys.argv[1])
