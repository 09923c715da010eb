#include "CYAML.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef LANYARD_SYSTEM_HEADERS
#include <yaml.h>
#else
typedef struct {
    size_t index, line, column;
} yaml_mark_t;

// 480 bytes in all versions with this library's name.
typedef struct {
    void *content[128];
} yaml_parser_t;

typedef struct {
    int type;
    union {
        struct {
            unsigned char *anchor;
        } alias;
        struct {
            unsigned char *anchor, *tag, *value;
            size_t length;
            int plain_implicit, quoted_implicit, style;
        } scalar;
        struct {
            unsigned char *anchor, *tag;
            int implicit, style;
        } sequence_start, mapping_start;
    } data;
    yaml_mark_t start_mark, end_mark;
} yaml_event_t;

int yaml_parser_initialize(yaml_parser_t *parser);
void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t size);
int yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
void yaml_event_delete(yaml_event_t *event);
void yaml_parser_delete(yaml_parser_t *parser);
_Static_assert(sizeof(yaml_event_t) == 104, "libyaml's event");
#endif

static struct {
    __typeof__(yaml_parser_initialize) *initialize;
    __typeof__(yaml_parser_set_input_string) *set_input;
    __typeof__(yaml_parser_parse) *parse;
    __typeof__(yaml_event_delete) *delete_event;
    __typeof__(yaml_parser_delete) *delete;
} yaml;

static const char *const names[] = {
    "yaml_parser_initialize", "yaml_parser_set_input_string", "yaml_parser_parse", "yaml_event_delete", "yaml_parser_delete",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;

static void load(void) {
    void *handle = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) return;
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        void *function = dlsym(handle, names[index]);
        if (function == NULL) return;
        memcpy((void **)&yaml + index, &function, sizeof function);
    }
    is_open = true;
}

bool lanyard_yaml_open(void) {
    pthread_once(&once, load);
    return is_open;
}

struct lanyard_yaml {
    yaml_parser_t parser;
    yaml_event_t event;
};

lanyard_yaml *lanyard_yaml_start(const uint8_t *bytes, size_t count) {
    _Static_assert(sizeof(yaml_parser_t) <= 1024, "libyaml's parser");
    lanyard_yaml *reader = lanyard_yaml_open() ? calloc(1, sizeof *reader) : NULL;
    if (reader == NULL) return NULL;
    if (!yaml.initialize(&reader->parser)) {
        free(reader);
        return NULL;
    }
    yaml.set_input(&reader->parser, bytes, count);
    return reader;
}

bool lanyard_yaml_next(lanyard_yaml *reader, lanyard_yaml_event *event) {
    yaml_event_t *read = &reader->event;
    yaml.delete_event(read);
    if (!yaml.parse(&reader->parser, read)) return false;
    *event = (lanyard_yaml_event){
        .kind = (lanyard_yaml_kind)read->type, .row = read->start_mark.line, .column = read->start_mark.column,
        .end_row = read->end_mark.line, .end_column = read->end_mark.column};
    switch (event->kind) {
    case LANYARD_YAML_ALIAS: event->anchor = (const char *)read->data.alias.anchor; break;
    case LANYARD_YAML_SCALAR:
        event->anchor = (const char *)read->data.scalar.anchor;
        event->tag = (const char *)read->data.scalar.tag;
        event->text = read->data.scalar.value;
        event->length = read->data.scalar.length;
        event->style = (int)read->data.scalar.style;
        break;
    case LANYARD_YAML_LIST_START:
        event->anchor = (const char *)read->data.sequence_start.anchor;
        event->tag = (const char *)read->data.sequence_start.tag;
        event->style = (int)read->data.sequence_start.style;
        break;
    case LANYARD_YAML_MAP_START:
        event->anchor = (const char *)read->data.mapping_start.anchor;
        event->tag = (const char *)read->data.mapping_start.tag;
        event->style = (int)read->data.mapping_start.style;
        break;
    default: break;
    }
    return true;
}

void lanyard_yaml_end(lanyard_yaml *reader) {
    if (reader == NULL) return;
    yaml.delete_event(&reader->event);
    yaml.delete(&reader->parser);
    free(reader);
}
