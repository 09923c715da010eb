// LanyardCommands
