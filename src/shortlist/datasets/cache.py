"""Where the files of named data sets are: a folder of the user's, a cache, or the web.

A file is looked for in the folder that ``SHORTLIST_DATA`` names, then in the cache folder, both
``set/file``, compressed or not. What is in neither is downloaded into the cache, where pooch is
installed and the file's address and checksum are known.
"""

from __future__ import annotations

import os
from pathlib import Path

from shortlist.datasets.files import Source

_MULAN = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"
_ADDRESSES = {
    "aloi": "http://kalman.ml.cmu.edu/wen_datasets",
    "caltech101_silhouettes": "https://people.cs.umass.edu/~marlin/data",
    "letter": _LIBSVM,
}

#: SHA-256 of the files as they are published, uncompressed.
_SHA256 = {
    "aloi/aloi_test.vw": ("21110ac85bd66c57402433157ff60ed80b1d412fe985600c15ef632a87368f7a"),
    "aloi/aloi_train.vw": ("d18e51b43bcd8c5e510709769e4315c020591b150bd28407599cc5c04c804a69"),
    "bibtex/bibtex-test.arff": ("9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922"),
    "bibtex/bibtex-train.arff": (
        "8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174"
    ),
    "bibtex/bibtex.xml": ("08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232"),
    "caltech101_silhouettes/caltech101_silhouettes_28_split1.mat": (
        "eb6735e8d84b1850fabc5590124aab1755e90c9fd28123585324398405e1e42a"
    ),
    "corel5k/Corel5k-test-sparse.arff": (
        "e8f8e9cd052c43ba7bdfdf99d242f461fc8c2a03163466d921e576887b51d8a7"
    ),
    "corel5k/Corel5k-train-sparse.arff": (
        "19eb253c447144bea74ffa86b4731a56022addae2ba7d0aab72ad07fdc02e9b3"
    ),
    "corel5k/Corel5k.xml": ("54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d"),
    "delicious/delicious-test.arff": (
        "2dfb01723a819914b0ca83361177ed413ce3f2169851d9f228d4692915d63944"
    ),
    "delicious/delicious-train.arff": (
        "030186cdb542ebdd32052fcdbb1ebe30115b3a22518c1b4b198c45eb827aebe1"
    ),
    "delicious/delicious.xml": ("4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2"),
    "emotions/emotions-test.arff": (
        "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f"
    ),
    "emotions/emotions-train.arff": (
        "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98"
    ),
    "emotions/emotions.xml": ("dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0"),
    "enron/enron-test.arff": ("2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e"),
    "enron/enron-train.arff": ("2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194"),
    "enron/enron.xml": ("ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b"),
    "letter/letter.scale.t": ("07522ccbf54187fae6d560d1712b88c41ea1f7e8d19491c5adcc22ee37a075da"),
    "letter/letter.scale": ("ce2c7df15cc5742dc4382d59079181c97c21e0beaa0af53c84cc5745c69f1020"),
    "mediamill/mediamill-test.arff": (
        "502fddff50722b805f70dee95ef09f0aba793f70724c7c33af0fea5f6a692dea"
    ),
    "mediamill/mediamill-train.arff": (
        "aa269874529832996fcd5b800f423b4ae2636ffb0bf41fe7318ca55969e55041"
    ),
    "mediamill/mediamill.xml": ("960991532485541a885868c269bf454a6ecdcea3f821ad29ae516eaa5a1bd43b"),
    "medical/medical-test.arff": (
        "6be472e75a6c0b0916187f343a398011b1b26f8f0ddc682c575312ad3532f6c4"
    ),
    "medical/medical-train.arff": (
        "c764f45756ab1c553b8b4eaaf5605a5610a43bbbcf37492d0f1a12bf9c9e2244"
    ),
    "medical/medical.xml": ("51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce"),
    "scene/scene-test.arff": ("ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42"),
    "scene/scene-train.arff": ("b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d"),
    "scene/scene.xml": ("55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5"),
    "yeast/yeast-test.arff": ("4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a"),
    "yeast/yeast-train.arff": ("e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd"),
    "yeast/yeast.xml": ("c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247"),
}


def cache_folder() -> Path:
    """Return the folder that keeps downloads."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "shortlist" / "data"


def find(file: str) -> Source:
    """Return a file of a named data set, given as ``set/file``; download it if need be."""
    folders = [cache_folder()]
    own = os.environ.get("SHORTLIST_DATA")
    if own:
        folders.insert(0, Path(own))
    for folder in folders:
        path = folder / file
        found = Source(path).beside(path.name)
        if found is not None:
            return found
    return Source(_download(file, folders))


def _download(file: str, folders: list[Path]) -> Path:
    """Return the path of a file in the cache, after downloading it and checking its checksum."""
    set_name, _, name = file.partition("/")
    missing = f"there is no {file} in {' or in '.join(map(str, folders))}"
    if file not in _SHA256:
        raise FileNotFoundError(
            f"{missing}, and it cannot be downloaded; put it there, or let SHORTLIST_DATA name "
            "the folder that has it."
        )
    try:
        import pooch
    except ImportError:
        raise FileNotFoundError(
            f"{missing}; let SHORTLIST_DATA name the folder that has it, or install what "
            "downloads it: pip install 'shortlist[datasets]'."
        ) from None
    address = f"{_ADDRESSES.get(set_name, f'{_MULAN}/{set_name}')}/{name}"
    try:
        path = pooch.retrieve(
            address,
            known_hash=f"sha256:{_SHA256[file]}",
            fname=name,
            path=cache_folder() / set_name,
        )
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"{missing}, and the download of {address} failed ({str(error).splitlines()[0]}); "
            "let SHORTLIST_DATA name the folder that has it."
        ) from None
    return Path(path)
