#include "core/version.h"

#include "generated/commit.h"
#include "generated/version.h"

const char *hs_version(void)
{
    return HS_VERSION;
}

const char *hs_commit(void)
{
    return HS_COMMIT;
}

const char *hs_libraries(void)
{
    return HS_LIBRARIES;
}

const char *hs_compiler(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}
