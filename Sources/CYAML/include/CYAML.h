#pragma once

// libyaml's parser, opened when a YAML file is first read. script/lint compiles CYAML.c against the library's own header, which
// checks what is declared by hand.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What an event says, with libyaml's numbers.
typedef enum {
    LANYARD_YAML_STREAM_END = 2,
    LANYARD_YAML_DOCUMENT_START = 3,
    LANYARD_YAML_DOCUMENT_END = 4,
    LANYARD_YAML_ALIAS = 5,
    LANYARD_YAML_SCALAR = 6,
    LANYARD_YAML_LIST_START = 7,
    LANYARD_YAML_LIST_END = 8,
    LANYARD_YAML_MAP_START = 9,
    LANYARD_YAML_MAP_END = 10,
} lanyard_yaml_kind;

/// How a value is written, with libyaml's numbers; those of scalars and of collections overlap.
enum {
    LANYARD_YAML_PLAIN = 1,
    LANYARD_YAML_LITERAL = 4,
    LANYARD_YAML_FOLDED = 5,
    LANYARD_YAML_IN_BRACES = 2,
};

/// An event, whose texts live until the next one. Rows and columns count from 0, columns in characters.
typedef struct {
    lanyard_yaml_kind kind;
    /// NULL for none.
    const char *anchor, *tag;
    const uint8_t *text;
    size_t length;
    int style;
    size_t row, column, end_row, end_column;
} lanyard_yaml_event;

typedef struct lanyard_yaml lanyard_yaml;

/// Opens libyaml, once; whether it is there.
bool lanyard_yaml_open(void);

/// Begins to read a text, which must live as long as the result; NULL if libyaml isn't there, or there is no memory.
lanyard_yaml *lanyard_yaml_start(const uint8_t *bytes, size_t count);

/// Reads the next event; false if the text is invalid here.
bool lanyard_yaml_next(lanyard_yaml *reader, lanyard_yaml_event *event);

/// Ends the reading.
void lanyard_yaml_end(lanyard_yaml *reader);
