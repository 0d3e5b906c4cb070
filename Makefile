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
LIBRARIES := libconfig $(HDF5) muparser libpng
MISSING := $(strip $(foreach n,$(LIBRARIES),$(shell pkg-config --exists $(n) 2>/dev/null || echo $(n))))
HAVE_NVCC := $(shell command -v $(NVCC) 2>/dev/null)

# ---- flags ---------------------------------------------------------------------------------
# Strict floating point: no contraction that the source does not write as fma(), no reordering.
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
CFLAGS   ?= -O2 -g
CPPFLAGS += -Isrc -I$(BUILD) $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
override CFLAGS += -std=c17 $(WARNINGS) -ffp-contract=off -fno-math-errno -fopenmp
LDLIBS   += $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null) -lhdf5_hl -lm -lpthread
CPPFLAGS += -D_GNU_SOURCE

# ---- files: found by name, so adding one edits nothing here ---------------------------------
SOURCES  := $(wildcard src/core/*.c src/input/*.c src/engine/*.c src/engine/backends/*.c src/output/*.c)
COMMANDS := $(wildcard src/commands/*.c)
KERNELS  := $(filter-out %/common.c,$(wildcard kernels/cpu/*.c))
CUDA     := $(wildcard kernels/cuda/*.cu) $(wildcard src/engine/backends/*.cu)
UNITS    := $(wildcard tests/unit/*/test_*.c tests/kernels/test_*.c)

LIBRARY_OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/cpu/*.c))
COMMAND_OBJECTS := $(COMMANDS:%.c=$(BUILD)/%.o)
UNIT_PROGRAMS   := $(UNITS:%.c=$(BUILD)/%)

include $(wildcard kernels/cuda/cuda.mk)

.DEFAULT_GOAL := all
.PHONY: all help setup demo test unit kernels cases lint format sanitize install uninstall clean
.DELETE_ON_ERROR:

all: $(BUILD)/heatsolve ## build the program: build/heatsolve

help: ## what this Makefile can do
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14
	@echo 'variables: BUILD=build CC=cc CFLAGS="-O2 -g" PREFIX=/usr/local DESTDIR= PYTHON=/usr/bin/python3'

ifneq ($(MISSING),)
$(BUILD)/%.o $(BUILD)/heatsolve: missing
.PHONY: missing
missing:
	@echo 'heatsolve: libraries not found: $(MISSING)'; .ci/setup build --print; exit 1
endif

# ---- the program ---------------------------------------------------------------------------
$(BUILD)/heatsolve: $(BUILD)/src/main.o $(COMMAND_OBJECTS) $(LIBRARY_OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/%.o: %.c $(BUILD)/generated/stamp
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/kernels/cpu/%.o: override CFLAGS += -O3

# The lists of kernels and commands, from their file names; the version, from git.
$(BUILD)/generated/stamp: $(KERNELS) $(COMMANDS) $(CUDA) Makefile .ci/generate
	@mkdir -p $(@D)
	@BUILD=$(BUILD) VERSION=$(VERSION) NVCC='$(HAVE_NVCC)' .ci/generate
	@touch $@

$(BUILD)/generated/commit.h: FORCE
	@mkdir -p $(@D)
	@echo '#define HS_COMMIT "$(COMMIT)"' | cmp -s - $@ || echo '#define HS_COMMIT "$(COMMIT)"' >$@
$(BUILD)/src/core/version.o: $(BUILD)/generated/commit.h
FORCE:

# ---- set-up and tests ------------------------------------------------------------------------
setup: ## install what is missing (Debian packages)
	@.ci/setup build

demo: ## set up, build, and run the demo case
	@.ci/setup build
	@$(MAKE) --no-print-directory all
	@.ci/demo $(BUILD)/heatsolve

test: ## set up, build, and pass every test
	@.ci/setup test
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory cases

unit: $(UNIT_PROGRAMS) ## unit tests and the kernel table's test
	@tests/run-units $(UNIT_PROGRAMS)

cases: $(BUILD)/heatsolve ## whole runs against exact answers
	@HEATSOLVE=$(abspath $(BUILD)/heatsolve) $(PYTHON) -m pytest -q -p no:cacheprovider tests/cases

# A unit test's main runs every `void test_...(void **state)` of its file.
$(BUILD)/tests/%: tests/%.c $(LIBRARY_OBJECTS) $(BUILD)/generated/stamp
	@mkdir -p $(@D)
	@tests/generate-main $< >$@.main.c
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d -o $@ $@.main.c $(LIBRARY_OBJECTS) $(LDFLAGS) $(LDLIBS) -lcmocka

lint: ## clang-format, cppcheck, and the include rule of the design
	@.ci/lint

format: ## format all sources in place
	@clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh')

sanitize: ## the tests under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize \
	    CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' test

install: all ## install the program, man page, examples and completion under PREFIX
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' .ci/install $(BUILD)

clean: ## remove what was built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
