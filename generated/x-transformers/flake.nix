# Made by envspec. Change the spec and run `envspec compile`, not this file.
{
  description = "The environment of x-transformers, from spec.env";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/a5cc6f2c37bf518436dc8d1c288ccd0c43c2f4c4";

  outputs = { self, nixpkgs }:
    let
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      python = pkgs.python311;

      # Every wheel of requirements.lock, known by its sha256.
      wheels = [
        { index = "pytorch-cpu"; file = "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"; }
        { index = "pypi"; file = "einops-0.8.2-py3-none-any.whl"; sha256 = "54058201ac7087911181bfec4af6091bb59380360f069276601256a76af08193"; pypi = { pname = "einops"; version = "0.8.2"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "einx-0.4.3-py3-none-any.whl"; sha256 = "47ce54a0144f6dffcfacdd8fe2cc9e2e5e6485dda2471330ab75ee747dd22f39"; pypi = { pname = "einx"; version = "0.4.3"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "filelock-4.3.1-py3-none-any.whl"; sha256 = "79e43df8e9fe509cd83a3899a7c186c8077cbbe4d200a1ed3705c2f3bb6bc487"; pypi = { pname = "filelock"; version = "4.3.1"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "frozendict-2.5.1-py3-none-any.whl"; sha256 = "b6e602e286b912beca1e12615f50eda6c74646b440c8cfde34221adee6c98c5e"; pypi = { pname = "frozendict"; version = "2.5.1"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "fsspec-2026.9.0-py3-none-any.whl"; sha256 = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"; pypi = { pname = "fsspec"; version = "2026.9.0"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "jinja2-3.1.6-py3-none-any.whl"; sha256 = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"; pypi = { pname = "jinja2"; version = "3.1.6"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "loguru-0.7.3-py3-none-any.whl"; sha256 = "31a33c10c8e1e10422bfd431aeb5d351c7cf7fa671e3c4df004162264b28220c"; pypi = { pname = "loguru"; version = "0.7.3"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "markupsafe-3.0.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808"; pypi = { pname = "markupsafe"; version = "3.0.4"; dist = "cp311"; python = "cp311"; abi = "cp311"; platform = "manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64"; }; }
        { index = "pypi"; file = "mpmath-1.3.0-py3-none-any.whl"; sha256 = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"; pypi = { pname = "mpmath"; version = "1.3.0"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "networkx-3.6.1-py3-none-any.whl"; sha256 = "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762"; pypi = { pname = "networkx"; version = "3.6.1"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93"; pypi = { pname = "numpy"; version = "2.4.6"; dist = "cp311"; python = "cp311"; abi = "cp311"; platform = "manylinux_2_27_x86_64.manylinux_2_28_x86_64"; }; }
        { index = "pypi"; file = "packaging-26.4-py3-none-any.whl"; sha256 = "81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2"; pypi = { pname = "packaging"; version = "26.4"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "setuptools-84.2.1-py3-none-any.whl"; sha256 = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"; pypi = { pname = "setuptools"; version = "84.2.1"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "sympy-1.14.0-py3-none-any.whl"; sha256 = "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"; pypi = { pname = "sympy"; version = "1.14.0"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "torch_einops_utils-0.2.0-py3-none-any.whl"; sha256 = "e8b058190577299ada12c15a71e0e1c3551ef3536dee3c491bd6bd74595ef460"; pypi = { pname = "torch_einops_utils"; version = "0.2.0"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
        { index = "pypi"; file = "typing_extensions-4.16.0-py3-none-any.whl"; sha256 = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"; pypi = { pname = "typing_extensions"; version = "4.16.0"; dist = "py3"; python = "py3"; abi = "none"; platform = "any"; }; }
      ];
      source = { index = "pypi"; file = "x_transformers-2.31.10.tar.gz"; sha256 = "17f2c50ccb0e2b93f83a84c1374ff7158ed3852310910d6fed26c925776ae403"; };

      # A file of an index that nixpkgs cannot ask: `envspec fetch` and `nix-store --add-fixed
      # sha256 FILE` bring it into the store.
      given = file: pkgs.requireFile {
        name = file.file;
        sha256 = file.sha256;
        message = "run: envspec fetch spec.env -o wheels, then nix-store --add-fixed sha256 on " + file.file;
      };
      fetch = wheel:
        if wheel ? pypi
        then python.pkgs.fetchPypi (wheel.pypi // { format = "wheel"; sha256 = wheel.sha256; })
        else given wheel;

      wheelhouse = pkgs.runCommand "wheels" { } ''
        mkdir $out
        ${builtins.concatStringsSep "\n" (map (w: "ln -s ${fetch w} $out/${w.file}") wheels)}
      '';

      environment = pkgs.stdenv.mkDerivation {
        pname = "x-transformers";
        version = "env";
        dontUnpack = true;
        dontStrip = true;
        nativeBuildInputs = [ python pkgs.uv pkgs.autoPatchelfHook ];
        buildInputs = [ pkgs.stdenv.cc.cc.lib ];
        # The driver's own libraries come from the host at run time.
        autoPatchelfIgnoreMissingDeps = [ "libcuda.so.1" "libnvidia-ml.so.1" ];
        installPhase = ''
          ${python}/bin/python -m venv --without-pip $out
          export HOME=$TMPDIR
          uv pip install --offline --no-index --no-deps --no-cache --no-config --require-hashes \
            --find-links ${wheelhouse} --python $out/bin/python --requirements ${./requirements.lock}
        '';
      };
    in
    {
      packages.${system}.default = environment;
      devShells.${system}.default = pkgs.mkShell {
        packages = [ environment ];
        env = {
        };
      };
    };
}
