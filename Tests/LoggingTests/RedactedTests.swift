import Logging
import Testing

private struct Key {
    var text = "s3cret"
}

private struct Configuration {
    var masterKey = Redacted(Key())
    var tokens = [Redacted("s3cret")]
}

@Suite struct RedactedTests {
    static let texts: [(String, @Sendable () -> String)] = [
        ("description", { Redacted("s3cret").description }),
        ("debugDescription", { Redacted("s3cret").debugDescription }),
        ("interpolation", { "\(Redacted("s3cret"))" }),
        ("String(reflecting:)", { String(reflecting: Redacted("s3cret")) }),
        ("an optional", { "\(Optional(Redacted("s3cret")) as Any)" }),
        ("an array", { "\([Redacted("s3cret")])" }),
        ("description of what holds it", { "\(Configuration())" }),
        ("String(reflecting:) of what holds it", { String(reflecting: Configuration()) }),
        (
            "dump",
            {
                var text = ""
                dump(Configuration(), to: &text)
                return text
            }
        ),
        ("children", { "\(Mirror(reflecting: Redacted(Key())).children.map(\.value))" }),
        ("descendant", { "\(Mirror(reflecting: Configuration()).descendant("masterKey", "value") as Any)" }),
    ]

    @Test(arguments: texts.indices)
    func `the value does not show`(index: Int) {
        let (name, text) = Self.texts[index]
        #expect(!text().contains("s3cret"), "\(name)")
    }

    @Test func `the value can be revealed`() {
        #expect(Redacted("s3cret").reveal() == "s3cret")
        #expect("\(Redacted("s3cret"))" == "<redacted>")
    }
}
