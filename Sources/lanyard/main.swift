import LanyardCommands

Lanyard.run(arguments: CommandLine.arguments)
