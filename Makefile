# heatsolve: `make help` says what this can do.

BUILD  ?= build
PREFIX ?= /usr/local
CC     ?= cc
NVCC   ?= nvcc
PYTHON ?= /usr/bin/python3

VERSION := 0.1.0
COMMIT  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# ---- what is found -------------------------------------------------------------------------
HDF5 := $(firstword $(foreach n,hdf5-serial hdf5,$(shell pkg-config --exists $(n) 2>/dev/null && echo $(n))) hdf5-serial)
LIBRARIES := $(HDF5) cairo zlib
MISSING := $(strip $(foreach n,$(LIBRARIES),$(shell pkg-config --exists $(n) 2>/dev/null || echo $(n))))
FOUND_NVCC := $(shell command -v $(NVCC) 2>/dev/null)
# The GPUs to build for, by compute capability: those of this machine, "80 90", or all that nvcc knows. None: for
# the CPU only.
CUDA_ARCH ?= $(sort $(filter 7% 8% 9% 10% 11% 12%,$(subst .,,$(if $(FOUND_NVCC),$(shell \
               nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null)))))
HAVE_NVCC := $(if $(strip $(CUDA_ARCH)),$(FOUND_NVCC))

# ---- flags ---------------------------------------------------------------------------------
# Strict floating point: no contraction that the source does not write as fma(), no reordering.
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
# -g1: backtraces have lines, and it compiles faster than -g; CFLAGS="-O0 -g" is for a debugger
CFLAGS   ?= -O2 -g1
CPPFLAGS += -Isrc -I$(BUILD) $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
override CFLAGS += -std=c17 $(WARNINGS) -ffp-contract=off -fno-math-errno -fopenmp
LDLIBS   += $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null) -lhdf5_hl -lm -lpthread -ldl
CPPFLAGS += -D_GNU_SOURCE

# ---- files: found by name, so adding one edits nothing here ---------------------------------
SOURCES  := $(wildcard src/core/*.c src/functions/*.c src/input/*.c src/engine/*.c src/engine/*/*.c src/output/*.c src/output/*/*.c)
COMMANDS := $(wildcard src/commands/*.c)
KERNELS  := $(filter-out %/common.c,$(wildcard kernels/cpu/*.c))
CUDA     := $(wildcard kernels/cuda/*.cu kernels/cuda/*/*.cu) $(wildcard src/functions/*.cu src/engine/backends/*.cu)
# plans of the CUDA kernels: files of their own, or the part of a kernel's one file that is C
PLANS    := $(wildcard kernels/cuda/*.c kernels/cuda/*/*.c)
PLANNED  := $(wildcard kernels/cuda/*.cu kernels/cuda/ladder/*.cu)
UNITS    := $(wildcard tests/kernels/test_*.c tests/unit/*/test_*.c) # the longest first, lest one be left alone

# the CPU kernels first: one takes a minute, for which the other processors would wait in the end
LIBRARY_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/cpu/*.c)) $(SOURCES:%.c=$(BUILD)/%.o) \
                   $(PLANS:%.c=$(BUILD)/%.o) $(PLANNED:%.cu=$(BUILD)/%.plan.o)
COMMAND_OBJECTS := $(COMMANDS:%.c=$(BUILD)/%.o)
UNIT_PROGRAMS   := $(UNITS:%.c=$(BUILD)/%)
RANKS_OBJECTS   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/engine/ranks/mpi/*.c))
MPICC           ?= mpicc
MPIRUN          ?= $(if $(findstring mpicc,$(MPICC)),$(subst mpicc,mpirun,$(MPICC)),mpirun)
WITH_MPI        := OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)

include $(wildcard kernels/cuda/cuda.mk tests/tools/*/*.mk)

.DEFAULT_GOAL := all
.PHONY: all help setup demo test tested units unit cases lint format sanitize coverage man install uninstall clean
.DELETE_ON_ERROR:
$(if $(filter clean,$(MAKECMDGOALS)),$(eval .NOTPARALLEL:)) # `make -j clean all`: one after the other

all: $(BUILD)/heatsolve $(if $(MPI),$(BUILD)/heatsolve-mpi) ## build the program: build/heatsolve

help: ## what this Makefile can do
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14
	@echo 'variables: MPI=yes (heatsolve-mpi besides, for many GPUs and nodes) MPICC=mpicc BUILD=build CC=cc CFLAGS="-O2 -g1" PREFIX=/usr/local DESTDIR= PYTHON=/usr/bin/python3 V=1'
	@echo '           CUDA_ARCH= (this machine'"'"'s GPUs; "80 90", all) NVCC=nvcc (none: CPU only)'

ifneq ($(MISSING),)
$(BUILD)/generated/stamp $(BUILD)/generated/flags: missing
.PHONY: missing
missing:
	@echo 'heatsolve: libraries not found: $(MISSING)'; .ci/setup build --print; exit 1
endif

# Short lines for what is built; `make V=1` shows the commands.
Q := $(if $(V),,@)

# ---- the program ---------------------------------------------------------------------------
# A program takes from the library what it calls for: a unit test a little of it. Thin: the objects stay where they are.
$(BUILD)/libheatsolve.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs --thin $@ $^

$(BUILD)/heatsolve: $(BUILD)/src/main.o $(COMMAND_OBJECTS) $(BUILD)/libheatsolve.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same for several ranks, by MPI: in place of the library's object that says there is one.
$(BUILD)/heatsolve-mpi: $(BUILD)/src/main.o $(COMMAND_OBJECTS) $(RANKS_OBJECTS) $(BUILD)/libheatsolve.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(WITH_MPI) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/src/engine/ranks/mpi/%.o: src/engine/ranks/mpi/%.c $(BUILD)/generated/flags $(BUILD)/generated/mpi | $(BUILD)/generated/stamp
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC  $<')
	$(Q)$(WITH_MPI) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/generated/flags | $(BUILD)/generated/stamp
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC  $<')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.plan.o: %.cu $(BUILD)/generated/flags | $(BUILD)/generated/stamp
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC  $<')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ -x c $<
$(BUILD)/kernels/cuda/%.o: CPPFLAGS += -Ikernels/cuda

# with copies of loops wavefront.c takes half as long again to compile
KERNEL_CFLAGS ?= -O3 -fno-unswitch-loops
$(BUILD)/kernels/cpu/%.o: override CFLAGS += $(KERNEL_CFLAGS)

# Lists of kernels and commands from their file names, version, commit, the compiler with its flags,
# and MPI's: looked at whenever make starts, written when they differ. So a file that comes or goes, a
# commit, another CC or MPI is noticed, and nothing else is built again. The .d files say who reads them.
GENERATE := BUILD='$(BUILD)' VERSION='$(VERSION)' COMMIT='$(COMMIT)' NVCC='$(HAVE_NVCC)' FOUND='$(FOUND_NVCC)' CUDA_ARCH='$(CUDA_ARCH)' \
            LIBRARIES='$(LIBRARIES)' MPICC='$(MPICC)' FLAGS='$(CC) $(CPPFLAGS) $(CFLAGS)' .ci/generate
ifneq ($(filter-out help clean setup lint format uninstall,$(or $(MAKECMDGOALS),all)),)
GENERATED := $(shell $(GENERATE))
$(if $(GENERATED),$(info $(GENERATED)))
endif
$(BUILD)/generated/stamp: # after a clean
	@$(GENERATE)
$(BUILD)/generated/flags $(BUILD)/generated/mpi: | $(BUILD)/generated/stamp
FORCE:

# ---- set-up and tests ------------------------------------------------------------------------
SETUP := CC='$(CC)' MPICC='$(MPICC)' MPIRUN='$(MPIRUN)' PYTHON='$(PYTHON)' .ci/setup

setup: ## install what is missing (Debian packages)
	@$(SETUP) $(if $(MPI),ranks,build)

# a newcomer's make has no -j
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

demo: ## set up, build, and run the demo case
	@$(SETUP) $(if $(MPI),ranks,build)
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@MPIRUN='$(MPIRUN)' .ci/demo $(BUILD)/heatsolve $(if $(MPI),$(BUILD)/heatsolve-mpi)

test: ## set up, build, and pass every test
	@$(SETUP) test
	@$(MAKE) --no-print-directory $(PARALLEL) MPI=yes all units
	@$(MAKE) --no-print-directory tested

# a make of its own, which sees what was set up just now (a C++ compiler, for the emulated kernels)
tested:
	@BUILD='$(BUILD)' PYTHON='$(PYTHON)' tests/run-all $(UNIT_PROGRAMS)

units: $(UNIT_PROGRAMS)

unit: units ## unit tests and the kernel table's test
	@tests/run-units $(UNIT_PROGRAMS)

cases: $(BUILD)/heatsolve ## whole runs against exact answers
	@BUILD='$(BUILD)' PYTHON='$(PYTHON)' tests/run-cases

# A unit test's main runs every `void test_...(void **state)` of its file.
$(BUILD)/tests/%: tests/%.c $(BUILD)/libheatsolve.a tests/generate-main
	@mkdir -p $(@D)
	@tests/generate-main $< >$@.main.c
	$(if $(V),,@echo '  CC  $<')
	$(Q)$(CC) $(CPPFLAGS) -Itests -Ikernels/cuda $(CFLAGS) -MMD -MP -MF $@.d -o $@ $@.main.c $(BUILD)/libheatsolve.a $(LDFLAGS) $(LDLIBS) $(shell pkg-config --libs cmocka muparser)

lint: ## clang-format, cppcheck, and the include rule of the design
	@$(SETUP) lint
	@.ci/lint

format: ## format all sources in place
	@clang-format-14 -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh')

# gcc's guesses at what snprintf may cut off go wrong in instrumented code, and -O3 of the kernels
# takes it more than six minutes for a single file
sanitize: ## the tests under the address and undefined-behaviour sanitizers
	@LSAN_OPTIONS=suppressions=$(CURDIR)/tests/tools/leaks.supp:print_suppressions=0 \
	    $(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize KERNEL_CFLAGS= \
	    CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	    $(if $(findstring clang,$(CC)),,-Wno-format-truncation)' test

# what a test ends by a signal is not counted
coverage: ## the tests, and what share of the lines they ran (at least 90 % of src/)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage NVCC=none KERNEL_CFLAGS= \
	    CFLAGS='-O1 -g --coverage -fprofile-update=atomic -Wno-format-truncation' test
	@$(PYTHON) tests/tools/coverage.py $(BUILD)/coverage 90

man: all ## bring the lists of keys, boundaries and history in the pages up to date
	@.ci/man $(BUILD)/heatsolve

install: all ## install the program, man page, examples and completion under PREFIX
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' .ci/install $(BUILD)

uninstall: ## remove what install put under PREFIX
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' .ci/install --remove

clean: ## remove what was built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
