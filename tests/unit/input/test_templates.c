#include "input/config.h"
#include "input/templates.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_templates__are_configs_that_pass(void **state)
{
    for (const struct hs_template *template = hs_templates; template->name; template ++) {
        char path[] = "/tmp/heatsolve-template-XXXXXX";
        const int file = mkstemp(path);
        const size_t length = strlen(template->text);
        assert_int_equal(write(file, template->text, length), length);
        close(file);
        struct hs_problem problem;
        assert_ok_of(template->name,
                     hs_config_read(path, NULL, 0, (struct hs_config_how){0}, &problem, &err));
        /* its output has its own name, so that no two templates overwrite each other's */
        assert_memory_equal(problem.output.file, template->name, strlen(template->name));
        hs_problem_release(&problem);
        unlink(path);
    }
}
