# The CUDA part of the build; without nvcc it adds nothing. The Makefile includes it.
#
# CUDA_ARCH (see the Makefile) says for which GPUs the program carries machine code; "all": the first of each
# major version that nvcc knows from sm_75 on (its code runs on the later ones of that version too). If there are several,
# the program also carries PTX of the newest, which the driver compiles for still newer GPUs: it is a third of the program.

ifneq ($(HAVE_NVCC),)

CUDA_HOME  := $(abspath $(dir $(realpath $(HAVE_NVCC)))..)
CUDA_KNOWN := $(shell $(HAVE_NVCC) --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$$/\1/p' | sort -n | \
                awk '$$1 >= 75 && !seen[int($$1 / 10)]++')
CUDA_LIST  := $(foreach a,$(CUDA_ARCH),$(if $(filter all,$a),$(CUDA_KNOWN),$a))
CUDA_CODE  := $(foreach a,$(CUDA_LIST),-gencode arch=compute_$(a),code=sm_$(a)) \
              $(foreach a,$(if $(word 2,$(CUDA_LIST)),$(lastword $(CUDA_LIST))),-gencode arch=compute_$(a),code=compute_$(a))

# -fmad=false: the compiler fuses only what the source writes as a fused operation, as on the CPU.
# No -lineinfo and no compression: both cost time at a run's first launch
# (docs/performance/whole-runs.md). Profilers need -lineinfo.
NVCCFLAGS ?= -O3
override NVCCFLAGS += -std=c++20 -fmad=false -Isrc -I$(BUILD) -Ikernels/cuda -Werror all-warnings \
    -Xcompiler -Wall,-Wextra,-Werror,-Wshadow,-Wno-missing-field-initializers,-ffp-contract=off $(CUDA_CODE)

# But objects with many kernels, of which a run needs one, are compressed: resident from 14 to 3 MB, the others from 2.9 to 0.8.
CUDA_MANY := $(foreach k,resident fused_line_1d bulk_march vector_march,$(patsubst %.cu,$(BUILD)/%.o,$(wildcard kernels/cuda/$(k)/*.cu)))
$(CUDA_MANY): private override NVCCFLAGS += -Xfatbin -compress-all

# A sweep whose registers spill is slow for no visible reason, so that is an error too.
KERNEL_NVCCFLAGS ?= -Xptxas --warn-on-spills
$(BUILD)/kernels/cuda/%.o: private override NVCCFLAGS += $(KERNEL_NVCCFLAGS)

# These hold no device code: the host compiler is enough, once instead of once per architecture.
CUDA_HOST := $(patsubst %,$(BUILD)/src/engine/backends/%.o,cuda cuda_copy cuda_limits cuda_measure cuda_memory cuda_pool cuda_source cuda_readback cuda_staging) \
             $(patsubst %,$(BUILD)/src/functions/%.o,cuda_tables cuda_separation)
$(CUDA_HOST): private CUDA_CODE := -x c++ -Xcompiler -fopenmp
$(BUILD)/src/engine/backends/cuda_network.o $(BUILD)/src/engine/backends/cuda_matrix.o: private override NVCCFLAGS += -Xcompiler -fopenmp

# Sources that take minutes to compile begin first; otherwise the other processors would wait for them at the end.
CUDA_LONG := $(wildcard $(foreach k,in_double_3d in_float_3d fused_fields_3d fused_march_3d in_double_2d in_float_2d fused_march_2d,kernels/cuda/*/$(k).cu))
LIBRARY_OBJECTS := $(patsubst %.cu,$(BUILD)/%.o,$(CUDA_LONG) $(filter-out $(CUDA_LONG),$(CUDA))) $(LIBRARY_OBJECTS)
LDLIBS += $(if $(CUDA),$(addprefix -L,$(wildcard $(CUDA_HOME)/lib64)) -lcudart_static -ldl -lrt -lstdc++)

$(BUILD)/%.o: %.cu $(BUILD)/generated/cuda-flags | $(BUILD)/generated/stamp
	@mkdir -p $(@D)
	$(if $(V),,@echo '  NVCC $<')
	$(Q)$(HAVE_NVCC) $(NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

GPU_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/gpu/test_*.c))

.PHONY: test-gpu gpu-tests
gpu-tests: $(BUILD)/heatsolve $(GPU_TESTS) $(BUILD)/tests/gpu/planted $(if $(MPI),$(BUILD)/tests/gpu/wire)
test-gpu: gpu-tests ## all that needs a GPU: kernels, sanitizers, whole runs, rates
	@BUILD='$(BUILD)' PYTHON='$(PYTHON)' tests/gpu/run

$(BUILD)/tests/gpu/planted: $(BUILD)/tests/gpu/planted.o
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(LDLIBS)

$(BUILD)/tests/gpu/wire: tests/gpu/wire.c $(RANKS_OBJECTS) $(BUILD)/libheatsolve.a
	@mkdir -p $(@D)
	$(Q)$(WITH_MPI) $(CPPFLAGS) -isystem $(CUDA_HOME)/include $(CFLAGS) -MMD -MP -MF $@.d -o $@ $^ $(LDFLAGS) $(LDLIBS)

$(BUILD)/generated/cuda-flags: FORCE
	@mkdir -p $(@D)
	@echo '$(HAVE_NVCC) $(NVCCFLAGS) $(KERNEL_NVCCFLAGS)' | cmp -s - $@ || echo '$(HAVE_NVCC) $(NVCCFLAGS) $(KERNEL_NVCCFLAGS)' >$@

endif
