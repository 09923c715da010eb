import Glibc
import LanyardCommands

exit(await Lanyard.run(arguments: CommandLine.arguments))
