import ArgumentParser
import Claims

/// The options that ask for claims.
struct ClaimsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A claims request, as JSON.", valueName: "json"))
    var claims: String?

    @Option(
        help: ArgumentHelp(
            """
            A claim of id_token or access_token: TARGET.NAME, TARGET.NAME=essential, =value:V or =values:A,B; may be \
            repeated.
            """, valueName: "claim"))
    var claim: [String] = []

    /// The claims request that the options come to; nil if they ask for none.
    ///
    /// - Throws: `Failure` with the status of a wrong command line.
    func request() throws(Failure) -> String? {
        do throws(ClaimsError) {
            var request = try claims.map { text throws(ClaimsError) in try ClaimsRequest(text) } ?? ClaimsRequest()
            for shortForm in claim { try request.ask(shortForm) }
            return request.text
        } catch {
            throw Failure(error, status: .usage)
        }
    }
}
