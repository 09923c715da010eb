import Addresses
import Rules
import Terminal

/// docker, and what reads docker's settings.
enum DockerTool: ConfigurableTool {
    static let name = "docker"
    static let purpose = "docker use lanyard as a credential helper"
    static let discussion = """
        Names lanyard in docker's config.json: as `credsStore`, or for a URL's host in `credHelpers`. oras and helm read it too; podman, \
        skopeo and buildah have settings of their own.
        """
    static let url = ToolURL.optional
    static let helper: String? = "docker-credential-lanyard"

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let file = place.path("DOCKER_CONFIG", else: ".docker") + "/config.json"
        guard let host = place.pattern?.host.urlText else {
            return [ToolChange(.json, "credsStore", in: file, to: #""lanyard""#)]
        }
        return [ToolChange(.json, "credHelpers", host, in: file, to: #""lanyard""#)]
    }
}
