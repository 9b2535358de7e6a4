"""Makes the PDFs of this folder: two_pages_encrypted.pdf opens with no password, locked.pdf needs one, broken_page.pdf
has a second page whose letters cannot be unpacked. Needs reportlab and pypdf. The text is ours, under the project's licence."""
import io, sys, zlib
from pathlib import Path
from reportlab.pdfgen import canvas
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject

here = Path(__file__).parent
PAGES = [
    ["Slow Waves and Remembered Words", "Abstract", "People who slept remembered more words than people who stayed awake.",
     "1 Introduction", "Sleep is said to help memory, and this page says so in three short lines of text.",
     "The second page holds the method, and the third one what was found in the end."],
    ["2 Method", "Forty people learned a list of words in the evening and were asked again in the morning.",
     "Half of them slept in between, and half of them read a book in a lit room."],
    ["3 Results", "Those who slept remembered twelve words more on average than those who had read.",
     "The difference was larger for words that had been learned only once."],
]

def plain():
    out = io.BytesIO()
    page = canvas.Canvas(out, pageCompression=1, invariant=1)
    for lines in PAGES:
        y = 780
        for line in lines:
            page.setFont("Helvetica", 11)
            page.drawString(72, y, line)
            y -= 18
        page.showPage()
    page.save()
    return out.getvalue()

def encrypted(user):
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(plain())))
    writer.encrypt(user_password=user, owner_password="owner", algorithm="AES-128")
    return writer

encrypted("").write(here / "encrypted.pdf")
encrypted("secret").write(here / "locked.pdf")
writer = PdfWriter(clone_from=PdfReader(io.BytesIO(plain())))
stream = StreamObject()
stream._data = b"\x78\x9c this is no compressed stream"
stream[NameObject("/Filter")] = NameObject("/FlateDecode")
writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)
writer.write(here / "broken_page.pdf")
