import Commands

Lanyard.run(arguments: CommandLine.arguments)
