# SPDX-License-Identifier: Apache-2.0
"""Whatever runs in these tests is held against what inference says of it."""

import onnxseq
import pytest


class CheckedSession(onnxseq.InferenceSession):
    def run(self, output_names, feeds, **options):
        outputs = super().run(output_names, feeds, **options)
        assert self.check_shapes(feeds) == []
        return outputs


@pytest.fixture(autouse=True)
def no_run_contradicts_what_is_inferred(monkeypatch):
    monkeypatch.setattr(onnxseq, "InferenceSession", CheckedSession)
