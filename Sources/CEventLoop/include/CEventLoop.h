#ifndef CEVENTLOOP_H
#define CEVENTLOOP_H
#include <uv.h>
#endif
