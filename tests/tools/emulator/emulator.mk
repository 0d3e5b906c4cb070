# The CUDA kernels compiled as plain C++ and run by an emulator, so that a machine without a GPU
# tests them too: a unit program for each, first among them all, since they take longest; one for
# what src/functions/ evaluates on a device, and one for multigrid. Those of conduction are held to another definition, so
# their programs have another main. Kernels with
# instructions of the device's own (assembly that is not empty) are left to machines that have one.

CXX ?= c++
EMULATOR  := tests/tools/emulator
EMULATED  := $(if $(shell command -v $(CXX) 2>/dev/null),$(shell grep -LE 'asm[^"]*"[^"]|<<<' kernels/cuda/*.cu kernels/cuda/*/*.cu 2>/dev/null))
EMULATOR_CORE := $(addprefix src/core/,status.c memory.c text.c grid.c stencil.c boundary.c body.c network.c problem.c features.c kernel.c device.c) \
                 $(addprefix src/functions/,program.c evaluate.c time_function.c moving.c fields.c tables.c tabulate.c separation.c)
EMULATOR_BUILD := $(BUILD)/$(EMULATOR)
# coroutines by setjmp, which neither a fortified longjmp nor a sanitizer can follow
EMULATOR_FLAGS := -O1 -ffp-contract=off -U_FORTIFY_SOURCE -D_GNU_SOURCE -I$(EMULATOR) -Isrc -Ikernels/cuda

# the files that define a kernel; others of a folder are parts of it
EMULATED_KERNELS := $(if $(EMULATED),$(shell grep -l '^HS_CUDA_SWEEP' $(EMULATED)))
EMULATED_TESTS := $(addprefix $(EMULATOR_BUILD)/test_cuda_,$(basename $(notdir $(EMULATED_KERNELS))))
EMULATED_PLANS := $(PLANS:%.c=$(EMULATOR_BUILD)/%.o) $(PLANNED:%.cu=$(EMULATOR_BUILD)/%.plan.o)

ifneq ($(EMULATED),)

FUNCTIONS := $(wildcard src/functions/*.cu)
MULTIGRID := $(wildcard src/engine/multigrid/*.c) src/engine/network/coefficients.c
UNIT_PROGRAMS := $(EMULATED_TESTS) $(EMULATOR_BUILD)/test_cuda_functions $(EMULATOR_BUILD)/test_cuda_multigrid $(UNIT_PROGRAMS)

parts = $(1) $(filter $(dir $(1))in_%,$(EMULATED))
emulated = $(EMULATOR_BUILD)/test_cuda_$(basename $(notdir $(1))): $(patsubst %.cu,$(EMULATOR_BUILD)/%.o,$(call parts,$(1)))
$(foreach k,$(EMULATED_KERNELS),$(eval $(call emulated,$(k))))
$(filter-out $(EMULATOR_BUILD)/test_cuda_conduction_%,$(EMULATED_TESTS)): $(EMULATOR_BUILD)/test_cuda_kernels.o
$(filter $(EMULATOR_BUILD)/test_cuda_conduction_%,$(EMULATED_TESTS)): $(EMULATOR_BUILD)/test_cuda_conduction.o
$(EMULATED_TESTS): $(EMULATOR_BUILD)/test_cuda_%: $(EMULATOR_BUILD)/emulator.o $(EMULATED_PLANS) \
    $(EMULATOR_CORE:%.c=$(EMULATOR_BUILD)/%.o)
	$(Q)$(CXX) -Wl,--defsym=hs_kernel_emulated=hs_kernel_cuda_$* -o $@ $^ -lcmocka -lm

$(EMULATOR_BUILD)/test_cuda_functions: $(FUNCTIONS:%.cu=$(EMULATOR_BUILD)/%.o) $(EMULATOR_BUILD)/emulator.o \
    $(EMULATOR_CORE:%.c=$(EMULATOR_BUILD)/%.o) $(EMULATOR)/test_cuda_functions.cc tests/generate-main
	@tests/generate-main $(EMULATOR)/test_cuda_functions.cc >$@.main.cc
	$(Q)$(CXX) -std=c++20 $(EMULATOR_FLAGS) -Itests -Wall -Wextra -Werror -Wno-missing-field-initializers \
	    -MMD -MP -MF $@.d -o $@ $@.main.cc $(filter %.o,$^) -lcmocka -lm

$(EMULATOR_BUILD)/test_cuda_multigrid: $(addprefix $(EMULATOR_BUILD)/src/engine/backends/cuda_,pool.o staging.o levels.o palette.o cycle.o pair.o matrix.o node_vectors.o krylov.o) \
    $(EMULATOR_BUILD)/emulator.o $(MULTIGRID:%.c=$(EMULATOR_BUILD)/%.o) $(EMULATOR_CORE:%.c=$(EMULATOR_BUILD)/%.o) \
    $(EMULATOR)/test_cuda_multigrid.cc tests/generate-main
	@tests/generate-main $(EMULATOR)/test_cuda_multigrid.cc >$@.main.cc
	$(Q)$(CXX) -std=c++20 $(EMULATOR_FLAGS) -Itests -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unknown-pragmas \
	    -MMD -MP -MF $@.d -o $@ $@.main.cc $(filter %.o,$^) -lcmocka -lm

$(EMULATOR_BUILD)/%.o: %.cu
	@mkdir -p $(@D)
	$(if $(V),,@echo '  EMU $<')
	$(Q)$(CXX) -std=c++20 $(EMULATOR_FLAGS) -w -MMD -MP -c -x c++ -o $@ $<

$(EMULATOR_BUILD)/emulator.o: $(EMULATOR)/emulator.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 $(EMULATOR_FLAGS) -Wall -Wextra -Werror -Wno-clobbered -MMD -MP -c -o $@ $<

$(EMULATOR_BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 $(EMULATOR_FLAGS) -MMD -MP -c -o $@ $<

$(EMULATOR_BUILD)/%.plan.o: %.cu
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 $(EMULATOR_FLAGS) -MMD -MP -c -o $@ -x c $<

$(EMULATOR_BUILD)/test_%.o: $(EMULATOR)/test_%.c tests/generate-main
	@mkdir -p $(@D)
	@tests/generate-main $< >$(@:.o=.main.c)
	$(Q)$(CC) -std=c17 $(EMULATOR_FLAGS) $(WARNINGS) -Itests -MMD -MP -c -o $@ $(@:.o=.main.c)

endif
