//! What goes to the driver and comes back.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;

use serde_json::Value;

use super::PATIENCE;

/// Sends a command and reads the reply, as long as it says it is: the driver keeps connections open whatever is asked.
pub(super) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// The port that the driver says it listens on; what it said instead, if it ended.
pub(super) fn port(driver: &mut Child) -> Result<u16, String> {
    let mut stdout = BufReader::new(driver.stdout.take().ok_or("its output is not read")?);
    let mut said = String::new();
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
            return Err(said);
        }
        if let Some((_, rest)) = line.split_once("successfully on port ") {
            let digits = rest.trim().trim_end_matches('.');
            // Whatever it says later has somewhere to go.
            std::thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
            return digits.parse().map_err(|_| line);
        }
        said.push_str(&line);
    }
}

/// The bytes that `text` means in base 64.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for four in digits.chunks(4) {
        let whole = four.iter().fold(0_u32, |whole, digit| (whole << 6) | u32::from(*digit));
        let whole = whole << (6 * (4 - four.len()));
        bytes.extend_from_slice(&whole.to_be_bytes()[1..four.len().max(1)]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_read_whatever_its_length() {
        for (text, bytes) in [("", &b""[..]), ("TQ==", b"M"), ("TWE=", b"Ma"), ("TWFu", b"Man")] {
            assert_eq!(decoded(text), bytes);
        }
        assert_eq!(decoded("+/9BQkM="), [0xfb, 0xff, 0x41, 0x42, 0x43]);
    }
}
