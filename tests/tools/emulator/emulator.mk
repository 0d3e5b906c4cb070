# The CUDA kernels compiled as plain C++ and run by an emulator, so that a machine without a GPU
# tests them too: a unit program for each, first among them all, since they take longest. Kernels with
# instructions of the device's own (assembly that is not empty) are left to machines that have one.

CXX ?= c++
EMULATOR  := tests/tools/emulator
EMULATED  := $(if $(shell command -v $(CXX) 2>/dev/null),$(shell grep -LE 'asm[^"]*"[^"]|<<<' kernels/cuda/*.cu 2>/dev/null))
EMULATOR_CORE := $(addprefix src/core/,status.c grid.c stencil.c expression.c boundary.c problem.c needs.c kernel.c) $(wildcard src/core/tiling*.c)
EMULATOR_BUILD := $(BUILD)/$(EMULATOR)
# coroutines by setjmp, which neither a fortified longjmp nor a sanitizer can follow
EMULATOR_FLAGS := -O2 -g -ffp-contract=off -U_FORTIFY_SOURCE -D_GNU_SOURCE -Isrc

EMULATED_TESTS := $(patsubst kernels/cuda/%.cu,$(EMULATOR_BUILD)/test_cuda_%,$(EMULATED))

ifneq ($(EMULATED),)

UNIT_PROGRAMS := $(EMULATED_TESTS) $(UNIT_PROGRAMS)

$(EMULATED_TESTS): $(EMULATOR_BUILD)/test_cuda_%: $(EMULATOR_BUILD)/kernels/cuda/%.o $(EMULATOR_BUILD)/emulator.o \
    $(EMULATOR_CORE:%.c=$(EMULATOR_BUILD)/%.o) $(EMULATOR_BUILD)/main.o
	$(Q)$(CXX) -Wl,--defsym=hs_kernel_emulated=hs_kernel_cuda_$* -o $@ $^ -lcmocka -lm

$(EMULATOR_BUILD)/%.o: %.cu
	@mkdir -p $(@D)
	$(if $(V),,@echo '  EMU $<')
	$(Q)$(CXX) -std=c++20 $(EMULATOR_FLAGS) -w -I$(EMULATOR) -MMD -MP -c -x c++ -o $@ $<

$(EMULATOR_BUILD)/emulator.o: $(EMULATOR)/emulator.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 $(EMULATOR_FLAGS) -Wall -Wextra -Werror -Wno-clobbered -I$(EMULATOR) -MMD -MP -c -o $@ $<

$(EMULATOR_BUILD)/src/core/%.o: src/core/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 $(EMULATOR_FLAGS) -MMD -MP -c -o $@ $<

$(EMULATOR_BUILD)/main.o: $(EMULATOR)/test_cuda_kernels.c tests/generate-main
	@mkdir -p $(@D)
	@tests/generate-main $< >$(@D)/main.c
	$(Q)$(CC) -std=c17 $(EMULATOR_FLAGS) $(WARNINGS) -Itests -MMD -MP -c -o $@ $(@D)/main.c

endif
