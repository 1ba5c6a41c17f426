#ifndef CPCRE2_SHIMS_H
#define CPCRE2_SHIMS_H

#include <stddef.h>
#include <stdint.h>

/// How much work a match may still do, counted by callouts.
struct cpcre2_work {
    /// Units left; when a callout finds none, the match ends with `CPCRE2_OUT_OF_WORK`.
    int64_t left;
    /// Where in the subject the last callout was.
    size_t position;
    /// What each callout costs beyond one unit and the way from the last one.
    int64_t surcharge;
};

enum { CPCRE2_OUT_OF_WORK = -1000 };

/// Makes the callouts of matches with this `pcre2_match_context_8` count down `work`.
///
/// For patterns that were compiled with `PCRE2_AUTO_CALLOUT`. `work` must stay where it is.
void cpcre2_limit_work(void *match_context, struct cpcre2_work *work);

#endif
