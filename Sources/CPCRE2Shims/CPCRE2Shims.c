#include "CPCRE2Shims.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

// A unit is a callout, and each 16 bytes of the way from one to the next: a loop over single characters runs
// without callouts inside, but there is one before it and one behind it.
static int count(pcre2_callout_block *block, void *data) {
    struct cpcre2_work *work = data;
    size_t here = block->current_position;
    size_t way = here > work->position ? here - work->position : work->position - here;
    work->position = here;
    work->left -= 1 + (int64_t)(way / 16) + work->surcharge;
    return work->left < 0 ? CPCRE2_OUT_OF_WORK : 0;
}

void cpcre2_limit_work(void *match_context, struct cpcre2_work *work) {
    pcre2_set_callout(match_context, count, work);
}
