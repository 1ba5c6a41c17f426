import JSON
import ParseWire

extension WhereDecoder {
    /// `$nearSphere` with the distances that stand beside it.
    func near(
        _ field: String,
        _ object: JSONObject
    ) throws(ParseError) -> (Predicate, RowQuery.Nearest) {
        guard let center = try object["$nearSphere"].flatMap(point) else {
            throw ParseError(.invalidJSON, "bad $nearSphere value; a GeoPoint is needed")
        }
        var maxRadians: Double?
        for (name, radius) in Self.radii {
            guard let distance = object[name] else { continue }
            guard let number = distance.numberValue, number >= 0 else {
                throw ParseError(.invalidJSON, "bad \(name) value")
            }
            maxRadians = min(number / radius, maxRadians ?? .infinity)
        }
        let predicate = Predicate.near(field, center, maxRadians: maxRadians)
        return (predicate, RowQuery.Nearest(field: field, center: center))
    }

    private static let radii = [
        ("$maxDistance", 1), ("$maxDistanceInRadians", 1),
        ("$maxDistanceInMiles", GeoPoint.earthRadiusInMiles),
        ("$maxDistanceInKilometers", GeoPoint.earthRadiusInKilometers),
    ]

    /// The box of `$within`.
    func box(_ json: JSONValue) throws(ParseError) -> GeoArea {
        guard let corners = json["$box"]?.arrayValue, corners.count == 2,
            let southWest = try point(corners[0]),
            let northEast = try point(corners[1])
        else { throw ParseError(.invalidJSON, "malformatted $within arg") }
        return .box(southWest: southWest, northEast: northEast)
    }

    func geoWithin(_ field: String, _ json: JSONValue) throws(ParseError) -> Predicate {
        if let polygon = json["$polygon"] { return .inside(field, .polygon(try corners(polygon))) }
        guard let sphere = json["$centerSphere"] else { throw badGeoWithin() }
        guard let parts = sphere.arrayValue, parts.count >= 2 else {
            throw badGeoWithin("$centerSphere should be an array of Parse.GeoPoint and distance")
        }
        guard let center = try pairOrPoint(parts[0]) else {
            throw badGeoWithin("$centerSphere geo point invalid")
        }
        guard let radius = parts[1].numberValue, radius >= 0 else {
            throw badGeoWithin("$centerSphere distance invalid")
        }
        return .near(field, center, maxRadians: radius)
    }

    private func corners(_ json: JSONValue) throws(ParseError) -> [GeoPoint] {
        let elements: [JSONValue]
        if json["__type"]?.stringValue == "Polygon" {
            elements = json["coordinates"]?.arrayValue ?? []
            guard elements.count >= 3 else {
                throw badGeoWithin("Polygon.coordinates should contain at least 3 lon/lat pairs")
            }
        } else if let array = json.arrayValue {
            elements = array
            guard elements.count >= 3 else {
                throw badGeoWithin("$polygon should contain at least 3 GeoPoints")
            }
        } else {
            throw badGeoWithin("$polygon should be Polygon object or Array of Parse.GeoPoint's")
        }
        guard elements.count <= Self.cornerLimit else {
            throw ParseError(.invalidQuery, "A polygon may have at most \(Self.cornerLimit) corners.")
        }
        var corners: [GeoPoint] = []
        for element in elements {
            guard let corner = try pairOrPoint(element) else { throw badGeoWithin() }
            corners.append(corner)
        }
        return corners
    }

    private static let cornerLimit = 10_000

    /// The point of `$geoIntersects`.
    func intersection(_ json: JSONValue) throws(ParseError) -> GeoPoint {
        guard let point = try json["$point"].flatMap(point) else {
            throw ParseError(.invalidJSON, "bad $geoIntersect value; $point should be GeoPoint")
        }
        return point
    }

    private func badGeoWithin(_ what: String? = nil) -> ParseError {
        ParseError(.invalidJSON, "bad $geoWithin value" + (what.map { "; \($0)" } ?? ""))
    }

    /// A GeoPoint; `nil` for what is none.
    private func point(_ json: JSONValue) throws(ParseError) -> GeoPoint? {
        guard json["__type"]?.stringValue == "GeoPoint", let latitude = json["latitude"]?.numberValue,
            let longitude = json["longitude"]?.numberValue
        else { return nil }
        return try checked(latitude, longitude)
    }

    /// Longitude and latitude, in this order; `nil` for what is no pair of numbers.
    private func pair(_ json: JSONValue) throws(ParseError) -> GeoPoint? {
        guard let pair = json.arrayValue, pair.count == 2, let longitude = pair[0].numberValue,
            let latitude = pair[1].numberValue
        else { return nil }
        return try checked(latitude, longitude)
    }

    private func pairOrPoint(_ json: JSONValue) throws(ParseError) -> GeoPoint? {
        if let pair = try pair(json) { return pair }
        return try point(json)
    }

    private func checked(_ latitude: Double, _ longitude: Double) throws(ParseError) -> GeoPoint {
        for (name, value, limit) in [("latitude", latitude, 90.0), ("longitude", longitude, 180.0)]
        where !(value.magnitude <= limit) {
            let side = value < 0 ? "< -\(limit)" : "> \(limit)"
            throw ParseError(
                .internalServerError,
                "GeoPoint \(name) out of bounds: \(JSONValue.number(value)) \(side)."
            )
        }
        return GeoPoint(latitude: latitude, longitude: longitude)
    }
}

extension Optional {
    /// As `flatMap`, for closures that throw a typed error.
    fileprivate func flatMap<Result>(
        _ transform: (Wrapped) throws(ParseError) -> Result?
    ) throws(ParseError) -> Result? {
        guard let self else { return nil }
        return try transform(self)
    }
}
