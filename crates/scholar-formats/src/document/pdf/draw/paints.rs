//! Colours, gradients, patterns and strokes.

use hayro_interpret::encode::EncodedShadingType;
use hayro_interpret::gradient::{SvgGradient, SvgGradientKind};
use hayro_interpret::kurbo::{Affine, BezPath, Cap, Join, Point, Rect, Shape as _};
use hayro_interpret::pattern::{Pattern, ShadingPattern, TilingPattern};
use hayro_interpret::shading::ShadingType;
use hayro_interpret::{
    BlendMode, CacheKey as _, DrawMode, DrawProps, FillRule, Paint, StrokeProps,
};

use super::paths::{data, matrix, matrix_value, number, put};
use super::{Id, Kind, Painter};

/// How a paint that cannot be drawn is shown: a light grey.
const INSTEAD: &str = "#ccc";

/// Thinnest line, in points: one of no width is as thin as a device can draw.
const HAIRLINE: f64 = 0.25;

/// How far a gradient of few colours may be from the one of a function, per channel of 1.
const TOLERANCE: f32 = 0.01;

/// `fill="#…"` or `stroke="#…"`, with its opacity and a space before.
pub(super) fn attributes(name: &str, colour: &hayro_interpret::color::Color) -> String {
    let [red, green, blue, alpha] = colour.to_rgba().to_rgba8();
    let opacity = match alpha {
        u8::MAX => String::new(),
        alpha => format!(r#" {name}-opacity="{}""#, number(f64::from(alpha) / 255.0)),
    };
    format!(r##" {name}="#{red:02x}{green:02x}{blue:02x}"{opacity}"##)
}

/// What CSS calls a blend mode other than the normal one.
pub(super) fn blend_name(blend: BlendMode) -> Option<&'static str> {
    Some(match blend {
        BlendMode::Normal => return None,
        BlendMode::Multiply => "multiply",
        BlendMode::Screen => "screen",
        BlendMode::Overlay => "overlay",
        BlendMode::Darken => "darken",
        BlendMode::Lighten => "lighten",
        BlendMode::ColorDodge => "color-dodge",
        BlendMode::ColorBurn => "color-burn",
        BlendMode::HardLight => "hard-light",
        BlendMode::SoftLight => "soft-light",
        BlendMode::Difference => "difference",
        BlendMode::Exclusion => "exclusion",
        BlendMode::Hue => "hue",
        BlendMode::Saturation => "saturation",
        BlendMode::Color => "color",
        BlendMode::Luminosity => "luminosity",
    })
}

impl<'a> Painter<'a, '_> {
    /// Draws an outline, filled or as a line, in points of the page.
    pub(super) fn path(&mut self, path: &BezPath, props: &DrawProps<'a>, mode: &DrawMode) {
        let placed = props.transform * path.clone();
        if !placed.is_finite() {
            return;
        }
        let area = placed.bounding_box();
        let mut style = String::new();
        let (fill, stroke) = match mode {
            DrawMode::Fill(rule) => (Some(*rule), None),
            DrawMode::Stroke(stroke) => (None, Some(stroke)),
            DrawMode::FillAndStroke(rule, stroke) => (Some(*rule), Some(stroke)),
            DrawMode::Invisible => return,
        };
        match fill {
            Some(rule) => {
                style.push_str(&self.paint("fill", &props.paint, area));
                if rule == FillRule::EvenOdd {
                    style.push_str(r#" fill-rule="evenodd""#);
                }
            }
            None => style.push_str(r#" fill="none""#),
        }
        if let Some(stroke) = stroke {
            let wide = f64::from(stroke.line_width) * scale(props.transform);
            style.push_str(&self.paint("stroke", &props.paint, area.inflate(wide, wide)));
        }
        match stroke {
            // A pen that is wider than high has to be drawn before it is placed.
            Some(stroke) if !is_even(props.transform) && matches!(props.paint, Paint::Color(_)) => {
                style.push_str(&pen(stroke, 1.0));
                style.push_str(&matrix(props.transform));
                self.write(format_args!(r#"<path d="{}"{style}/>"#, data(path)));
            }
            Some(stroke) => {
                style.push_str(&pen(stroke, scale(props.transform)));
                self.write(format_args!(r#"<path d="{}"{style}/>"#, data(&placed)));
            }
            None => self.write(format_args!(r#"<path d="{}"{style}/>"#, data(&placed))),
        }
    }

    /// The attributes that paint `area`, with a space before.
    pub(super) fn paint(&mut self, name: &str, paint: &Paint<'a>, area: Rect) -> String {
        match paint {
            Paint::Color(colour) => attributes(name, colour),
            Paint::Pattern(pattern) => {
                let id = match pattern.as_ref() {
                    Pattern::Shading(shading) => self.gradient(shading, area),
                    Pattern::Tiling(tiles) => Some(self.tiles(tiles, name == "stroke")),
                };
                match id {
                    Some(id) => format!(r#" {name}="url(#{id})""#),
                    None => {
                        self.missing.simplified = true;
                        format!(r#" {name}="{INSTEAD}""#)
                    }
                }
            }
        }
    }

    /// The gradient of a shading, if it runs along a line or between circles: meshes of colours have no form in SVG.
    fn gradient(&mut self, shading: &ShadingPattern, area: Rect) -> Option<Id> {
        let ShadingType::RadialAxial { .. } = shading.shading.shading_type.as_ref() else {
            return None;
        };
        let encoded = shading.encode();
        let EncodedShadingType::RadialAxial(colours) = &encoded.shading_type else { return None };
        // Where nothing is painted beyond the gradient's ends, a gradient that goes on is near enough.
        let within = || {
            let middle = encoded.base_transform.inverse() * Point::new(0.5, 0.0);
            Rect::from_points(middle, middle)
        };
        let gradient = match colours.as_svg_gradient(&encoded, area, TOLERANCE) {
            Some(gradient) => gradient,
            None => {
                self.missing.simplified = true;
                colours.as_svg_gradient(&encoded, within(), TOLERANCE)?
            }
        };
        let (id, new) = self.id(Kind::Gradient, shading.cache_key(), None);
        if new {
            let drawn = written(id, &gradient);
            self.defs.push_str(&drawn);
        }
        Some(id)
    }

    fn tiles(&mut self, tiles: &TilingPattern<'a>, stroke: bool) -> Id {
        let (id, new) = self.id(Kind::Pattern, tiles.cache_key() ^ u128::from(stroke), None);
        if new {
            let inside = self.apart(|painter| {
                tiles.interpret(painter, Affine::IDENTITY, stroke);
            });
            let [x, y] = [tiles.bbox.x0, tiles.bbox.y0].map(number);
            let [width, height] =
                [tiles.x_step, tiles.y_step].map(|step| number(f64::from(step.abs())));
            let placed = matrix_value(tiles.matrix);
            let opacity = match tiles.opacity {
                some if some < 1.0 => format!(r#" opacity="{}""#, number(some.into())),
                _ => String::new(),
            };
            put(
                &mut self.defs,
                format_args!(
                    r#"<pattern id="{id}" patternUnits="userSpaceOnUse" x="{x}" y="{y}" width="{width}" height="{height}" patternTransform="{placed}"><g{opacity}>{inside}</g></pattern>"#
                ),
            );
        }
        id
    }
}

/// By how much a transform makes things larger.
fn scale(transform: Affine) -> f64 {
    transform.determinant().abs().sqrt()
}

/// Whether a transform makes things larger by the same in all directions.
fn is_even(transform: Affine) -> bool {
    let [a, b, c, d, ..] = transform.as_coeffs();
    let (across, along) = (a.hypot(b), c.hypot(d));
    (across - along).abs() <= across.max(along) * 0.02
        && (a * c + b * d).abs() <= across * along * 0.02
}

/// The attributes of a line, in a space `scale` times as large as its own.
fn pen(stroke: &StrokeProps, scale: f64) -> String {
    let width = (f64::from(stroke.line_width) * scale).max(HAIRLINE);
    let mut out = format!(r#" stroke-width="{}""#, number(width));
    match stroke.line_cap {
        Cap::Butt => {}
        Cap::Square => out.push_str(r#" stroke-linecap="square""#),
        Cap::Round => out.push_str(r#" stroke-linecap="round""#),
    }
    match stroke.line_join {
        Join::Miter => {
            let limit = f64::from(stroke.miter_limit).max(1.0);
            put(&mut out, format_args!(r#" stroke-miterlimit="{}""#, number(limit)));
        }
        Join::Bevel => out.push_str(r#" stroke-linejoin="bevel""#),
        Join::Round => out.push_str(r#" stroke-linejoin="round""#),
    }
    if stroke.dash_array.iter().any(|length| *length > 0.0) {
        let lengths = stroke.dash_array.iter().map(|length| number(f64::from(*length) * scale));
        let lengths: Vec<String> = lengths.collect();
        let offset = number(f64::from(stroke.dash_offset) * scale);
        put(
            &mut out,
            format_args!(
                r#" stroke-dasharray="{}" stroke-dashoffset="{offset}""#,
                lengths.join(" ")
            ),
        );
    }
    out
}

fn written(id: Id, gradient: &SvgGradient) -> String {
    let placed = matrix_value(gradient.transform);
    let (name, ends) = match &gradient.kind {
        SvgGradientKind::Linear { start, end } => {
            let [x1, y1, x2, y2] = [start.x, start.y, end.x, end.y];
            ("linearGradient", format!(r#"x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}""#))
        }
        SvgGradientKind::Radial { start_center, start_radius, end_center, end_radius } => {
            let [fx, fy, cx, cy] = [start_center.x, start_center.y, end_center.x, end_center.y];
            let circles = format!(
                r#"fx="{fx}" fy="{fy}" fr="{start_radius}" cx="{cx}" cy="{cy}" r="{end_radius}""#
            );
            ("radialGradient", circles)
        }
    };
    let mut out = format!(
        r#"<{name} id="{id}" gradientUnits="userSpaceOnUse" gradientTransform="{placed}" {ends}>"#
    );
    for stop in &gradient.stops {
        let [red, green, blue, alpha] = stop.color.map(f64::from);
        let [red, green, blue] = [red, green, blue].map(|part| number(part * 255.0));
        put(
            &mut out,
            format_args!(
                r#"<stop offset="{}" stop-color="rgb({red},{green},{blue})" stop-opacity="{}"/>"#,
                number(stop.offset.into()),
                number(alpha)
            ),
        );
    }
    put(&mut out, format_args!("</{name}>"));
    out
}
