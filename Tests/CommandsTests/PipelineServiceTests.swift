import Model
import Rules
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

/// The commands that make CI services mask a value in their logs.
@Suite struct PipelineServiceTests {
    @Test(arguments: [
        (["GITHUB_ACTIONS": "true"], PipelineService.githubActions), (["TF_BUILD": "True"], .azurePipelines),
        (["GITHUB_ACTIONS": "false"], nil), (["TF_BUILD": ""], nil), (["GITLAB_CI": "true", "CI": "true"], nil),
        ([:], nil),
    ])
    func `a job is known by its service's variable`(environment: [String: String], service: PipelineService?) {
        #expect(PipelineService(environment) == service)
    }

    @Test(arguments: [
        ("e30.e30.c2ln", "\n::add-mask::e30.e30.c2ln\n", "##vso[task.setsecret]e30.e30.c2ln\n"),
        ("50%;a]", "\n::add-mask::50%25;a]\n", "##vso[task.setsecret]50%AZP25%3Ba%5D\n"),
        ("%0A", "\n::add-mask::%250A\n", "##vso[task.setsecret]%AZP250A\n"),
        (
            "first\r\nsecond\nab\n\n",
            "\n::add-mask::first%0D%0Asecond%0Aab%0A%0A\n\n::add-mask::first\n\n::add-mask::second\n",
            """
            ##vso[task.setsecret]first%0D%0Asecond%0Aab%0A%0A
            ##vso[task.setsecret]first
            ##vso[task.setsecret]second

            """
        ),
        ("", "", ""),
    ])
    func `a value is written so that it ends where it should`(value: String, github: String, azure: String) {
        #expect(PipelineService.githubActions.masks(of: [value, value]) == github)
        #expect(PipelineService.azurePipelines.masks(of: [value]) == azure)
    }

    @Test func `a job that describes only the machine is told what an application takes`() {
        let machine = Identity(name: "environment", source: .machine("client-id:1"))
        let url = "ACTIONS_ID_TOKEN_REQUEST_URL"
        for (service, environment, words) in [
            (PipelineService.githubActions, [:], "id-token: write"), (.githubActions, [url: ""], "id-token: write"),
            (.githubActions, [url: "https://x.example"], "AZURE_CLIENT_ID"), (.azurePipelines, [:], "AzureCLI@2"),
        ] {
            #expect(service.advice(on: machine, environment)?.contains(words) == true)
        }
        #expect(PipelineService.githubActions.advice(on: .machine, [:]) == nil)
    }
}
