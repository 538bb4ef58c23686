"""The portable cores of nameplate: the files nameplate-core-ARCHITECTURE in the directory of this package."""

# script/build-cores replaces it by the version of nameplate.
__version__ = "0"
