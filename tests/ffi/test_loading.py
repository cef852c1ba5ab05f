"""xlaops.ffi.load: building, caching, checking, and what it says when it cannot."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import numpy as np
import pytest

import xlaops.ffi
from xlaops.ffi import build, cache, loading, shared_library, toolchain

# What a library must export, without XLA's headers: it compiles in no time.
EMPTY = """
extern "C" int xlaops_ffi_api_major() { return 0; }
extern "C" int xlaops_ffi_api_minor() { return 3; }
"""
SCALE = """
#include "xlaops/ffi.h"
namespace ffi = xla::ffi;
ffi::Error Scale(ffi::Buffer<ffi::F32> x, float factor, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    y->typed_data()[i] = factor * x.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(scale, Scale,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Attr<float>("factor")
                          .Ret<ffi::Buffer<ffi::F32>>());
"""


def load(text=EMPTY, name="it", **options):
    """The library of a text, by the quickest way unless the test is about ways."""
    options = {"cmake": False, "progress": False, **options}
    return xlaops.ffi.load(name, source_text=text, **options)


@pytest.fixture
def builds(monkeypatch):
    """How often something was compiled, as a list that grows."""
    counted = []
    for way in ("directly", "with_cmake"):
        original = getattr(build, way)

        def count(recipe, *args, original=original):
            counted.append(recipe)
            return original(recipe, *args)

        monkeypatch.setattr(build, way, count)
    return counted


def forget():
    """What a new process knows of loaded libraries."""
    shared_library._opened.clear()


def run(script, *arguments, **environment):
    """A child process with the cache of this one."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# ---- From text to a function


def test_text_to_a_function(session_cache, capfd):
    library = xlaops.ffi.load("scale", source_text=SCALE)
    assert re.fullmatch(
        r"xlaops\.ffi: compiling 'scale' \(c\+\+\) \.\.\. \d+\.\d s\n",
        capfd.readouterr().err,
    )
    assert library.handlers == ("scale",)
    assert library.api_version == (0, 3)
    target = library.target("scale")
    assert target == f"scale.scale.{library.key}"
    call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct((3,), np.float32))
    out = jax.jit(lambda x: call(x, factor=np.float32(2)))(np.arange(3, dtype="f4"))
    assert out.tolist() == [0, 2, 4]
    assert any(t.name == target and t.platform == "cpu" for t in xlaops.ffi.targets())
    # Again, without a build or a second registration.
    assert library.target("scale") == target
    assert xlaops.ffi.load("scale", source_text=SCALE) is library
    assert capfd.readouterr().err == ""


def test_edited_text_is_another_target(empty_cache):
    """Else XLA would refuse the second one as a duplicate, or keep the first."""
    macro = '#include "xlaops/ffi.h"\nnamespace ffi = xla::ffi;\n' + textwrap.dedent(
        """
        template <typename T> int& Calls() { static int calls = 0; return calls; }
        XLAOPS_DEFINE_HANDLER(number, [](ffi::ResultBufferR0<ffi::S32> y) {
          y->typed_data()[0] = NUMBER + Calls<int>()++;
          return ffi::Error::Success();
        });
        """
    )
    results = []
    for number in (10, 20, 10):
        library = load(macro.replace("NUMBER", str(number)), flags=["-O0"])
        target = library.target("number")
        call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct((), np.int32))
        results.append(int(jax.jit(call)()))
    # Nor do two libraries share the variables of templates.
    assert results == [10, 20, 11]


def test_files_and_headers(empty_cache, builds, tmp_path):
    header, source = tmp_path / "deep.h", tmp_path / "a.cc"
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "angled.h").write_text('#include "../deep.h"\n')
    header.write_text("#define VALUE 3\n")
    source.write_text("#include <angled.h>\n" + EMPTY.replace("3", "VALUE"))
    other = tmp_path / "b.cc"
    other.write_text("int unused() { return 1; }\n")

    def load_files():
        forget()
        return xlaops.ffi.load(
            "files",
            sources=[source, str(other)],
            include_dirs=[tmp_path / "inc"],
            cmake=False,
            progress=False,
        )

    first = load_files()
    assert load_files().key == first.key
    assert len(builds) == 1
    header.write_text("#define VALUE 2\n")
    second = load_files()
    assert second.key != first.key
    assert second.api_version == (0, 2)
    assert len(builds) == 2


@pytest.mark.parametrize("flag", ["-include {}", "-isystem{}", "-I {}", "-iquote{}"])
def test_headers_by_flags(session_cache, tmp_path, flag):
    header = tmp_path / "given.h"
    header.write_text("#define VALUE 3\n")
    place, text = tmp_path, '#include "given.h"\n' + EMPTY.replace("3", "VALUE")
    if flag.startswith("-include"):
        place, text = header, EMPTY.replace("3", "VALUE")
    flags = flag.format(place).split()
    first = load(text, flags=flags)
    header.write_text("#define VALUE 2\n")
    second = load(text, flags=flags)
    assert (first.api_version, second.api_version) == ((0, 3), (0, 2))


def test_source_that_is_also_included(tmp_path, session_cache):
    """One file of two is not one that includes the other, whatever their texts."""
    first, second = tmp_path / "a.cc", tmp_path / "b.cc"
    first.write_text('#include "b.cc"\n')
    second.write_text("")

    def key(*files):
        return loading._Request("it", files, None, "c++", (), (), (), False).key()

    assert key(first) != key(first, second)


@pytest.mark.parametrize(
    "change",
    [
        {"flags": ["-O1"]},
        {"link_flags": ["-lm"]},
        {"name": "other"},
        {"text": EMPTY + "// changed\n"},
        {"cmake": True},
    ],
)
def test_what_the_key_depends_on(session_cache, change):
    if "cmake" in change and toolchain.find_build_tool("cmake") is None:
        pytest.skip("there is no CMake")
    assert load(**change).key != load().key


def test_environment_and_versions_are_in_the_key(session_cache, monkeypatch):
    def key():
        request = loading._Request("it", None, EMPTY, "c++", (), (), (), False)
        return request.key()

    before = key()
    assert key() == before
    with monkeypatch.context() as patch:
        patch.setenv("CXXFLAGS", "-O1")
        assert key() != before
    with monkeypatch.context() as patch:
        patch.setattr(loading, "_package_version", lambda: "another")
        assert key() != before
    with monkeypatch.context() as patch:
        patch.setattr(loading, "runtime_api_version", lambda: (0, 99))
        assert key() != before
    with monkeypatch.context() as patch:
        patch.setattr(toolchain.Tool, "identity", lambda self: "another compiler")
        assert key() != before


def test_native_flags_depend_on_the_processor(session_cache, monkeypatch):
    def key(*flags):
        return loading._Request("it", None, EMPTY, "c++", flags, (), (), False).key()

    def in_the_environment(name, value):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            return key()

    def keys():
        return [
            key("-O2"),
            key("-march=native"),
            loading._Request(
                "it",
                None,
                EMPTY,
                "c++",
                (),
                (),
                (),
                "add_compile_options(-mcpu=native)",
            ).key(),
            in_the_environment("CXXFLAGS", "-march=native"),
            in_the_environment("CXX", f"{compiler} -march=native"),
        ]

    compiler = toolchain.compiler("c++").command[0]
    before = keys()
    monkeypatch.setattr(toolchain, "processor_identity", lambda: "another processor")
    after = keys()
    assert after[0] == before[0]
    assert not set(after[1:]) & set(before)


@pytest.mark.skipif(
    toolchain.find_build_tool("cmake") is None, reason="there is no CMake"
)
@pytest.mark.parametrize("ninja", [True, False])
def test_lines_of_cmake(empty_cache, monkeypatch, ninja):
    find = toolchain.find_build_tool
    if not ninja:
        if shutil.which("make") is None:
            pytest.skip("there is no make")
        monkeypatch.setattr(
            toolchain,
            "find_build_tool",
            lambda name: None if name == "ninja" else find(name),
        )
    lines = 'target_compile_definitions(handlers PRIVATE "MINOR=1")'
    library = load(EMPTY.replace("3", "MINOR"), cmake=lines)
    assert library.api_version == (0, 1)


def test_flags_with_spaces_and_semicolons(session_cache):
    flags = ['-DTEXT="a b;c"', "-DUNUSED=$x"]
    text = EMPTY.replace("return 3", "return sizeof(TEXT) - 3")
    for cmake in (False, None):
        assert load(text, flags=flags, cmake=cmake).api_version == (0, 3)


def test_without_cmake_the_compiler_is_called(empty_cache, builds, monkeypatch):
    monkeypatch.setattr(toolchain, "find_build_tool", lambda name: None)
    assert load(cmake=None).path.is_file()
    with pytest.raises(
        xlaops.ffi.LoadError, match=r"cmake was asked for.*xlaops\[ffi\]"
    ):
        load(cmake=True)


# ---- The cache


def test_second_process_builds_nothing(empty_cache):
    script = """
        import sys, time, xlaops.ffi
        start = time.perf_counter()
        library = xlaops.ffi.load("it", source_text=sys.argv[1], cmake=False)
        print(library.key, time.perf_counter() - start)
    """
    outputs = []
    for _ in range(2):
        child = run(script, EMPTY)
        out, err = child.communicate(timeout=120)
        outputs.append((out.split(), err))
    (first, built), (second, again) = outputs
    assert "compiling 'it'" in built
    assert again == ""
    assert first[0] == second[0]
    # It is 5 ms; the bound is that of the promise, with room for a busy machine.
    assert float(second[1]) < 0.5


def test_many_processes_build_once(empty_cache):
    script = """
        import sys, xlaops.ffi
        print(xlaops.ffi.load("it", source_text=sys.argv[1], cmake=False).path)
    """
    children = [run(script, EMPTY) for _ in range(3)]
    results = [child.communicate(timeout=180) for child in children]
    assert all(child.returncode == 0 for child in children), results
    assert len({out for out, _ in results}) == 1
    said = "".join(err for _, err in results)
    assert said.count("compiling 'it' (c++)") == 1
    assert [p.name for p in empty_cache.iterdir() if p.name.startswith(".build")] == []


def test_faster_process_wins(empty_cache, tmp_path):
    """Where locks do nothing, the one that is late takes what is there."""
    library = load()
    forget()
    built = tmp_path / "build" / library.path.name
    built.parent.mkdir()
    built.write_bytes(b"another")
    entry = cache.add(f"it-{library.key}", built, {"key": "late"})
    assert entry.library == library.path
    assert entry.manifest["key"] == library.key


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of Unix")
def test_the_cache_is_private(empty_cache):
    library = load()
    for path in (empty_cache, library.path.parent, *library.path.parent.iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("change", ["append", "truncate", "swap"])
def test_changed_library_is_refused(empty_cache, change):
    path = load().path
    forget()
    if change == "swap":
        path.rename(path.with_suffix(".old"))
        path.write_bytes(b"\x7fELF but another one")
    else:
        content = path.read_bytes()
        # A new file, as this process has the old one open.
        path.unlink()
        path.write_bytes(content + b"\0" if change == "append" else content[:100])
    with pytest.raises(xlaops.ffi.CacheError, match="is not the file that was built"):
        load()
    # The way out that the message names.
    shutil.rmtree(path.parent)
    assert load().path == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not JSON", "manifest.json cannot be read"),
        ("{}", "manifest.json cannot be read"),
        ("[]", "manifest.json cannot be read"),
        ('{"sha256": "", "library": "../../x.so"}', "points out of it"),
        ('{"sha256": "", "library": "/lib/x.so"}', "points out of it"),
        ('{"sha256": "", "library": "gone.so"}', "No such file"),
    ],
)
def test_changed_manifest_is_refused(empty_cache, text, message):
    path = load().path
    forget()
    (path.parent / "manifest.json").write_text(text)
    with pytest.raises(xlaops.ffi.CacheError, match=message):
        load()


@pytest.mark.parametrize("change", [{"handlers": 3}, {"api_version": None}])
def test_manifest_that_lacks_something_is_refused(empty_cache, change):
    path = load().path.parent / "manifest.json"
    forget()
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(xlaops.ffi.CacheError, match="delete the folder"):
        load()


def test_manifest_of_a_newer_api_is_refused_before_anything_runs(
    empty_cache, monkeypatch
):
    path = load().path
    forget()
    manifest = json.loads((path.parent / "manifest.json").read_text())
    manifest["api_version"] = [0, 99]
    (path.parent / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(
        shared_library.ctypes, "CDLL", lambda path: pytest.fail("opened")
    )
    with pytest.raises(xlaops.ffi.VersionError, match=r"needs version 0\.99"):
        load()


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of Unix")
class TestFoldersOfOthers:
    def test_writable_by_others(self, empty_cache):
        load()
        forget()
        empty_cache.chmod(0o770)
        with pytest.raises(
            xlaops.ffi.CacheError, match=r"writable by other users.*chmod"
        ):
            load()

    def test_entry_writable_by_others(self, empty_cache):
        path = load().path
        forget()
        path.parent.chmod(0o702)
        with pytest.raises(xlaops.ffi.CacheError, match="writable by other users"):
            load()

    def test_library_writable_by_others(self, empty_cache):
        path = load().path
        forget()
        path.chmod(0o720)
        with pytest.raises(xlaops.ffi.CacheError, match="writable by other users"):
            load()

    def test_owner(self, empty_cache, monkeypatch):
        load()
        forget()
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(xlaops.ffi.CacheError, match="must belong to the user"):
            load()

    @pytest.mark.parametrize("what", ["cache", "entry", "library", "manifest"])
    def test_symbolic_links(self, empty_cache, tmp_path, what):
        path = load().path
        forget()
        linked = {
            "cache": empty_cache,
            "entry": path.parent,
            "library": path,
            "manifest": path.parent / "manifest.json",
        }[what]
        linked.rename(tmp_path / "elsewhere")
        linked.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(xlaops.ffi.CacheError, match="must be a plain file"):
            load()

    def test_lock_is_no_link(self, empty_cache, tmp_path):
        key = loading._Request("it", None, EMPTY, "c++", (), (), (), False).key()
        empty_cache.mkdir(parents=True, mode=0o700)
        (empty_cache / f"it-{key}.lock").symlink_to(tmp_path / "victim")
        with pytest.raises(xlaops.ffi.CacheError, match=r"cannot be written to: .*it-"):
            load()
        assert not (tmp_path / "victim").exists()


def test_cache_that_cannot_be_made(empty_cache, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    with pytest.raises(xlaops.ffi.CacheError, match="set XLAOPS_CACHE_DIR"):
        load()


def test_cache_that_cannot_be_written_to(empty_cache, monkeypatch):
    """As on a disk that is read-only, or full; what is in the cache can be used."""
    path = load().path
    forget()

    def refuse(*args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(cache.tempfile, "mkdtemp", refuse)
    assert load().path == path
    with pytest.raises(
        xlaops.ffi.CacheError, match=r"cannot be written to: .*Read-only.*set XLAOPS_"
    ):
        load(EMPTY + "//\n")


def test_user_without_a_home(empty_cache, monkeypatch):
    """As in a container whose user is only a number."""

    def refuse():
        raise RuntimeError("Could not determine home directory.")

    for name in ("XLAOPS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", refuse)
    with pytest.raises(xlaops.ffi.CacheError, match=r"home directory.*set XLAOPS_C"):
        load()
    found = xlaops.ffi.doctor()
    assert any("set XLAOPS_CACHE_DIR" in problem for problem in found.problems)
    assert found.cache == "none"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_lock_is_not_inherited(empty_cache):
    """Else all others would wait for as long as the forked process lives."""
    script = """
        import os, signal, time
        from xlaops.ffi import cache
        with cache.locked("it"):
            child = os.fork()
            if child == 0:
                time.sleep(100)
                os._exit(0)
        with cache.locked("it", lambda: print("waits", flush=True)):
            print("has it", flush=True)
        os.kill(child, signal.SIGKILL)
    """
    out, err = run(script, PYTHONWARNINGS="ignore").communicate(timeout=90)
    assert out == "has it\n", err


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XLAOPS_CACHE_DIR": "/a"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/xlaops")),
        ({"HOME": "/c"}, Path("/c/.cache/xlaops")),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the places are those of Linux")
def test_where_the_cache_is(monkeypatch, variables, expected):
    for name in ("XLAOPS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache.root() == expected


def test_left_over_folders_go(empty_cache):
    load()
    old, young = empty_cache / ".build-old", empty_cache / ".build-young"
    for path in (old, young):
        path.mkdir()
    os.utime(old, (0, 0))
    load(EMPTY + "//\n")
    assert not old.exists()
    assert young.exists()


# ---- What can go wrong


def test_failed_build_shows_the_log(empty_cache):
    for cmake in (False, None):
        with pytest.raises(xlaops.ffi.BuildError) as caught:
            load("int main() {\n  return undeclared;\n}\n", cmake=cmake)
        message = str(caught.value)
        assert "the c++ sources of 'it-" in message
        assert "it.cc:2" in message
        assert "undeclared" in caught.value.log
    # Nothing is left of it.
    assert [p for p in empty_cache.iterdir() if p.is_dir()] == []


def test_failed_build_ends_the_progress_line(empty_cache, capfd):
    with pytest.raises(xlaops.ffi.BuildError):
        load("nonsense", progress=True)
    assert capfd.readouterr().err == "xlaops.ffi: compiling 'it' (c++) ... failed\n"


@pytest.mark.skipif(sys.platform != "linux", reason="by a flag of the linker of Linux")
def test_undefined_function_is_found_when_it_is_built(session_cache):
    text = (
        EMPTY + 'namespace n { void Missing(); }\nextern "C" void f() { n::Missing(); }'
    )
    with pytest.raises(xlaops.ffi.BuildError, match=r"undefined.*n::Missing\(\)"):
        load(text)


@pytest.mark.skipif(sys.platform != "linux", reason="by a flag of the linker of Linux")
def test_registration_in_cpp_is_explained(session_cache):
    text = EMPTY + (
        "namespace xla::ffi { const void* GetXlaFfiApi(); }\n"
        'extern "C" const void* f() { return xla::ffi::GetXlaFfiApi(); }'
    )
    with pytest.raises(xlaops.ffi.BuildError, match="XLA_FFI_REGISTER_HANDLER works"):
        load(text)


def test_missing_compiler(empty_cache, monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    with pytest.raises(xlaops.ffi.CompilerNotFoundError, match=r"CXX.*install one"):
        load()
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(xlaops.ffi.CompilerNotFoundError, match=r"no C\+\+ compiler"):
        load()


def test_compiler_that_does_not_run(empty_cache, tmp_path, monkeypatch):
    compiler = tmp_path / "c++"
    compiler.write_bytes(b"\0")
    compiler.chmod(0o700)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(xlaops.ffi.BuildError, match=r"c\+\+ does not run: "):
        load()


@pytest.mark.skipif(sys.platform != "linux", reason="by a flag of Linux")
@pytest.mark.parametrize(("name", "is_gnu"), [("clang++-19", False), ("g++-13", True)])
def test_compiler_behind_another_program(tmp_path, monkeypatch, name, is_gnu):
    ran = []
    monkeypatch.setattr(
        build, "_run", lambda recipe, command, folder: ran.append(command)
    )
    tool = toolchain.Tool(("/usr/bin/ccache", f"/usr/bin/{name}"))
    recipe = build.Recipe("it", "c++", (), (), (), (), ())
    build.directly(recipe, tmp_path, tool)
    assert ("-fno-gnu-unique" in ran[0]) == is_gnu


def test_compiler_with_arguments(session_cache, monkeypatch):
    compiler = toolchain.compiler("c++").command[0]
    monkeypatch.setenv("CXX", f"{compiler} -DMINOR=2")
    for cmake in (False, None):
        library = load(EMPTY.replace("3", "MINOR"), cmake=cmake)
        assert library.api_version == (0, 2)


def test_newer_api_is_refused_before_it_is_registered(session_cache):
    with pytest.raises(xlaops.ffi.VersionError, match=r"'it' .*needs version 0\.99"):
        load(EMPTY.replace("3", "99"))


def test_library_without_the_header(session_cache):
    with pytest.raises(xlaops.ffi.VersionError, match=r'#include "xlaops/ffi\.h"'):
        load('extern "C" int f() { return 0; }')


def test_missing_symbols(kit):
    with pytest.raises(xlaops.ffi.HandlerNotFoundError, match="you mean 'square'"):
        kit.target("sqare")
    with pytest.raises(xlaops.ffi.HandlerNotFoundError, match="it has copy_matrix, "):
        kit.target("zzz")
    with pytest.raises(xlaops.ffi.HandlerNotFoundError, match="has no state 'no'"):
        kit.target("counter_next", state="no")


def test_what_is_no_handler_is_never_called(kit, monkeypatch):
    """XLA would call it, to ask for its version."""
    monkeypatch.setattr(
        jax.ffi, "register_ffi_target", lambda *a, **k: pytest.fail("!")
    )
    for symbol in ("not_a_handler", "xlaops_ffi_api_minor", "counter_type_id"):
        with pytest.raises(xlaops.ffi.HandlerNotFoundError, match="is not a handler"):
            kit.target(symbol)


def test_handler_of_another_stage(kit):
    with pytest.raises(
        xlaops.ffi.HandlerNotFoundError, match=r"stage execute, got 'counter_start'"
    ):
        kit.target("counter_start")
    with pytest.raises(xlaops.ffi.HandlerNotFoundError, match="stage instantiate"):
        kit.target("counter_next", instantiate="counter_next")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "sources or source_text must be given"),
        ({"name": "a b"}, ValueError, "letters, digits and underscores, got 'a b'"),
        ({"name": "../x"}, ValueError, "letters, digits and underscores"),
        ({"name": ""}, ValueError, "letters, digits and underscores"),
        ({"name": "3d"}, ValueError, "begin with no digit"),
        ({"sources": []}, TypeError, "sources or source_text must be given"),
        ({"source_text": b"x"}, TypeError, "source_text must be text"),
        ({"source_text": "", "language": "c"}, ValueError, "'c\\+\\+' or 'cuda'"),
        ({"source_text": "", "flags": "-O1"}, TypeError, "flags must be a sequence"),
        ({"source_text": "", "flags": [1]}, TypeError, "flags must be a sequence"),
        ({"source_text": "", "flags": None}, TypeError, "flags must be a sequence"),
        ({"source_text": "", "cmake": 3}, TypeError, "cmake must be"),
        ({"source_text": "", "include_dirs": "x"}, TypeError, "include_dirs must be"),
        ({"source_text": "", "include_dirs": None}, TypeError, "include_dirs must be"),
        ({"source_text": "", "include_dirs": ["no"]}, FileNotFoundError, "no folder"),
        ({"sources": "no.cc"}, FileNotFoundError, r"there is no file .*no\.cc"),
    ],
)
def test_arguments(arguments, error, message):
    with pytest.raises(error, match=f"load: .*{message}"):
        xlaops.ffi.load(**{"name": "it", **arguments})


# ---- Libraries from elsewhere


def test_library_of_a_file(session_cache, tmp_path):
    file = tmp_path / "libfrom-elsewhere.so"
    shutil.copy(load().path, file)
    library = xlaops.ffi.load_library(file)
    assert library.name == "from_elsewhere"
    assert library.api_version == (0, 3)
    assert xlaops.ffi.load_library(file) is library


def test_file_that_was_built_again(session_cache, tmp_path):
    """The system would give the library that it has opened by this name before."""
    file = tmp_path / "3d.so"
    shutil.copy(load().path, file)
    library = xlaops.ffi.load_library(file)
    assert (library.name, library.api_version) == ("_3d", (0, 3))
    file.unlink()
    shutil.copy(load(EMPTY.replace("3", "2")).path, file)
    with pytest.raises(xlaops.ffi.LoadError, match=r"was opened before .*another name"):
        xlaops.ffi.load_library(file)
    renamed = file.rename(tmp_path / "4d.so")
    assert xlaops.ffi.load_library(renamed).api_version == (0, 2)


def test_file_that_is_no_library(tmp_path):
    file = tmp_path / "broken.so"
    file.write_text("nothing")
    with pytest.raises(xlaops.ffi.LoadError, match="'broken' cannot be opened"):
        xlaops.ffi.load_library(file)
    with pytest.raises(FileNotFoundError):
        xlaops.ffi.load_library(tmp_path / "gone.so")
