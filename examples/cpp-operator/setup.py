from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="soft-clip",
    version="1.0",
    packages=["soft_clip"],
    ext_modules=[CppExtension("soft_clip._cpp", ["soft_clip/soft_clip.cpp"])],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
