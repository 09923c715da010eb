internal import Foundation

// Sends a request in a process of its own: a process has one libcurl, one environment and one account of its memory.

signal(SIGPIPE, SIG_IGN)
Cancellation.watch()
let question = try JSONDecoder().decode(Question.self, from: FileHandle.standardInput.readDataToEndOfFile())
let reply = await Probe(question).reply()
FileHandle.standardOutput.write(try JSONEncoder().encode(reply))
