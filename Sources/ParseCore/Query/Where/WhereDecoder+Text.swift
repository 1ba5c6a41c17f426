import JSON
import ParseWire

extension WhereDecoder {
    /// The regular expression of `$regex` and `$options`, found to be one.
    func pattern(_ object: JSONObject) throws(ParseError) -> TextPattern {
        guard let text = object["$regex"]?.stringValue else {
            throw ParseError(.invalidQuery, "$regex value must be a string")
        }
        let pattern = TextPattern(text, options: try patternOptions(object["$options"]))
        _ = try pattern.compiled()
        return pattern
    }

    private func patternOptions(_ json: JSONValue?) throws(ParseError) -> TextPattern.Options {
        guard let json else { return [] }
        guard let letters = json.stringValue else {
            throw ParseError(.invalidQuery, "$options value must be a string")
        }
        var options: TextPattern.Options = []
        for letter in letters {
            switch letter {
            case "i": options.insert(.ignoresCase)
            case "m": options.insert(.multiline)
            case "x": options.insert(.extended)
            case "s": options.insert(.dotMatchesLineEnds)
            case "u": break
            default: throw badOptions(letters)
            }
        }
        guard !letters.isEmpty else { throw badOptions(letters) }
        return options
    }

    private func badOptions(_ letters: String) -> ParseError {
        ParseError(.invalidQuery, "Bad $options value for query: \(JSONValue.string(letters).javaScriptText)")
    }

    func textSearch(_ json: JSONValue) throws(ParseError) -> TextSearch {
        guard let search = json["$search"]?.objectValue else { throw badText("$search, should be object") }
        guard let term = search["$term"]?.stringValue, !term.isEmpty else {
            throw badText("$term, should be string")
        }
        var result = TextSearch(term: term)
        if let language = search["$language"], language.isTruthy {
            guard let name = language.stringValue else { throw badText("$language, should be string") }
            result.language = name
        }
        result.isCaseSensitive = try flag(search, "$caseSensitive")
        result.isDiacriticSensitive = try flag(search, "$diacriticSensitive")
        _ = try result.query()
        return result
    }

    private func flag(_ search: JSONObject, _ name: String) throws(ParseError) -> Bool {
        guard let json = search[name], !json.isNull else { return false }
        guard let flag = json.boolValue else { throw badText("\(name), should be boolean") }
        return flag
    }

    private func badText(_ what: String) -> ParseError {
        ParseError(.invalidJSON, "bad $text: \(what)")
    }
}
