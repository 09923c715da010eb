import Addresses
import Files
import JSON
import Secrets
import Terminal
import ToolTexts

/// terraform and OpenTofu: lanyard becomes their only credentials helper.
enum TerraformTool: ConfigurableTool {
    static let name = "terraform"
    static let purpose = "terraform and OpenTofu use lanyard as a credentials helper"
    static let discussion = """
        Adds a `credentials_helper` to `~/.terraformrc`, and to OpenTofu's own file if it doesn't read that one; and the link in \
        `~/.terraform.d/plugins` that both look for. A `credentials` block for a host still comes first.
        """
    static let url = ToolURL.none
    static let relatives = ["tofu", "opentofu"]
    static let programs = ["terraform", "tofu"]

    private static let program = "terraform-credentials-lanyard"
    private static let line = #"credentials_helper "lanyard" {}"#

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        var files: [String] = []
        for file in self.files(place) where try !hasLanyard(in: file, place.context) { files.append(file) }
        let link = try place.link("\(place.home)/.terraform.d/plugins/\(program)", to: program)
        return [link] + files.map { ToolChange(.line, [line], in: $0, to: line) }
    }

    /// Tokens in the file that `terraform login` writes take precedence over the helper.
    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let file = "\(place.home)/.terraform.d/credentials.tfrc.json"
        let json = try ToolPlace.text(of: file).flatMap { JSONValue(bytes: Array($0.utf8)) }
        let hosts = (json?["credentials"]?.members ?? [:]).filter { $1["token"] != nil }.keys.sorted()
        return hosts.map { host in
            let what = "the token for \(host.displayable(limit: 200)) in \(place.context.short(file)) comes first"
            return Hint("\(what); to remove it", run: "\(hasOnlyTofu(place) ? "tofu" : "terraform") logout \(host)")
        }
    }

    /// Returns the files that the programs read; OpenTofu reads terraform's if it has none of its own.
    private static func files(_ place: ToolPlace) -> [String] {
        if let named = place.context.environment.absolutePath("TF_CLI_CONFIG_FILE") { return [named] }
        let (terraform, tofu) = ("\(place.home)/.terraformrc", "\(place.home)/.tofurc")
        if place.context.isFile(tofu) { return hasOnlyTofu(place) ? [tofu] : [terraform, tofu] }
        guard hasOnlyTofu(place), !place.context.isFile(terraform) else { return [terraform] }
        return [place.context.environment.absolutePath("XDG_CONFIG_HOME").map { "\($0)/opentofu/tofurc" } ?? tofu]
    }

    private static func hasOnlyTofu(_ place: ToolPlace) -> Bool {
        place.context.program("tofu") != nil && place.context.program("terraform") == nil
    }

    /// Whether a file names lanyard in another form than `configure` writes; throws if it names another helper, since
    /// two are an error.
    private static func hasLanyard(in file: String, _ context: CommandContext) throws(Failure) -> Bool {
        let rows = (try ToolPlace.text(of: file) ?? "").pieces(between: "\n").map { $0.trimmed(of: " \t\r") }
        guard let other = rows.first(where: { $0.hasPrefix("credentials_helper") }), other != line else { return false }
        let name = other.dropFirst("credentials_helper".utf8.count).trimmed(of: " \t")
        guard !name.hasPrefix(#""lanyard""#) else { return true }
        throw Failure(
            "\(context.short(file)) names a credentials helper already: \(String(other).displayable(limit: 100))",
            hints: ["terraform allows only one; remove that first"])
    }
}
