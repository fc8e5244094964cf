"""What the site has beside the files of docs/; ``mkdocs build --strict`` calls the functions ``on_...``.

It has pages of the project's root and tables of measurements, to whose places links are led, a gallery made of the
figures in all pages, the tutorials as notebooks, and the reference of the docstrings.
"""

import posixpath
import re
import sys
import tempfile
from pathlib import Path

import jupytext
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import make_reference  # noqa: E402

TABLES = [f"benchmarks/results/{path.name}" for path in sorted((ROOT / "benchmarks" / "results").glob("*.[ms][dv]*"))]
# Files outside of docs/: the place in the project -> the place in the site.
OUTSIDE = {"README.md": "index.md", "CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md"}
OUTSIDE |= {name: name for name in ("LICENSE", "CITATION.cff", *TABLES)}
LINK = re.compile(r"\]\(([^):#]+)(#[^)]*)?\)")
LINKED = re.compile(r"\[([^\]]*)\]\([^):]+\.md(?:#[^)]*)?\)")
FIGURE = re.compile(r"!\[([^\]]+)\]\(([^)]+\.svg)\)")
_folder = tempfile.TemporaryDirectory()


def on_files(files, config):
    """Add what is not in docs/."""
    for place, address in OUTSIDE.items():
        files.append(File.generated(config, address, abs_src_path=str(ROOT / place)))
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        content = jupytext.writes(notebook_of(path), fmt="ipynb")
        files.append(File.generated(config, f"tutorials/{path.stem}.ipynb", content=content))
    folder = Path(_folder.name)
    make_reference.main(folder)
    for path in filter(Path.is_file, folder.rglob("*")):
        address = path.relative_to(folder).as_posix()
        files.append(File.generated(config, f"reference/{address}", abs_src_path=str(path)))
    modules = (f"- [`{name}`](reference/{name.replace('.', '/')}.html)" for name in make_reference.MODULES)
    files.append(File.generated(config, "reference.md", content="# Reference\n\n" + "\n".join(modules)))
    files.append(File.generated(config, "gallery.md", content=gallery()))
    return files


def notebook_of(path):
    """Return a tutorial as a notebook, without the links to other pages, which are not there when it is downloaded."""
    notebook = jupytext.reads(LINKED.sub(r"\1", path.read_text(encoding="utf-8")), fmt="md")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def gallery():
    """Return a page with all figures of the pages, each with what is said of it and the page that it is from."""
    parts = ["# Gallery of figures"]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for words, address in FIGURE.findall(text):
            page = path.relative_to(ROOT / "docs").as_posix()
            image = posixpath.normpath(posixpath.join(posixpath.dirname(page), address)).removeprefix("../")
            parts.append(f"![{words}]({image})\n\n{words}: [{text.partition(chr(10))[0][2:]}]({page})")
    return "\n\n".join(parts)


def on_page_markdown(markdown, page, config, files):
    """Lead links to files outside of docs/ to their places, and prepare what a forge shows otherwise."""
    address = page.file.src_uri
    place = next((key for key, value in OUTSIDE.items() if value == address), f"docs/{address}")

    def led(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), match[1]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return f"]({posixpath.relpath(target, posixpath.dirname(address) or '.')}{match[2] or ''})"

    if page.file.abs_src_path:  # it is written for a forge, not generated for the site
        markdown = LINK.sub(led, markdown)
    if address.startswith("tutorials/"):
        title, _, text = markdown.partition("\n")
        markdown = f"{title}\n\n[As a notebook]({Path(address).stem}.ipynb){{ download }}\n{text}"
    return re.sub(r"^( *```\w+) not run: .*$", r"\1", markdown, flags=re.MULTILINE)
