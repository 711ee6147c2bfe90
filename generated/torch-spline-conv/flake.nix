# Made by envspec. Change the spec and run `envspec compile`, not this file.
#
# Wheels come from their index where nixpkgs can ask it. For all of them, and without network:
#   envspec fetch spec.env -o wheels
#   nix build --override-input wheels path:./wheels path:FOLDER-OF-THIS-FILE
# Wherever a file comes from, it is the one with the sha256 below.
#
# Not in here: packages of the image's distribution, which nixpkgs does not know by
# these names. What manylinux wheels may expect of a machine is in `libraries`.
#   spec.env:24 libgomp1
#   spec.env:25 g++ libc6-dev python3-dev
{
  description = "The environment of torch-spline-conv, from spec.env";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/a5cc6f2c37bf518436dc8d1c288ccd0c43c2f4c4";
  # What `envspec fetch` wrote. It follows nixpkgs, which holds no such files, until it is overridden.
  inputs.wheels = {
    flake = false;
    follows = "nixpkgs";
  };

  outputs = { self, nixpkgs, wheels }:
    let
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      inherit (pkgs.lib) concatMapStringsSep escapeShellArg escapeShellArgs removeSuffix;
      python = pkgs.python311;
      interpreter = "${python}/bin/python3.11";

      # Every file by the folder that `envspec fetch` puts it in, known by its sha256.
      files = {
        "tools" = [
          { file = "uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; sha256 = "d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"; index = "pypi"; }
        ];
        "framework" = [
          { file = "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"; index = "pytorch-cpu"; }
        ];
        "packages" = [
          { file = "filelock-4.3.2-py3-none-any.whl"; sha256 = "02a8801bc6b2a80921bf3d7895c63084d53bae2a3c86783adce5ae2b89a1825b"; index = "pypi"; }
          { file = "fsspec-2026.9.0-py3-none-any.whl"; sha256 = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"; index = "pypi"; }
          { file = "jinja2-3.1.6-py3-none-any.whl"; sha256 = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"; index = "pypi"; }
          { file = "markupsafe-3.0.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808"; index = "pypi"; }
          { file = "mpmath-1.3.0-py3-none-any.whl"; sha256 = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"; index = "pypi"; }
          { file = "networkx-3.6.1-py3-none-any.whl"; sha256 = "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762"; index = "pypi"; }
          { file = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93"; index = "pypi"; }
          { file = "setuptools-81.0.0-py3-none-any.whl"; sha256 = "fdd925d5c5d9f62e4b74b30d6dd7828ce236fd6ed998a08d81de62ce5a6310d6"; index = "pypi"; }
          { file = "sympy-1.14.0-py3-none-any.whl"; sha256 = "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"; index = "pypi"; }
          { file = "typing_extensions-4.16.0-py3-none-any.whl"; sha256 = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"; index = "pypi"; }
        ];
        "extension-torch-spline-conv" = [
          { file = "torch_spline_conv-1.2.2.tar.gz"; sha256 = "ed45a81da29f774665dbdd4709d7e534cdf16d2e7006dbd06957f35bd09661b2"; index = "pypi"; }
        ];
        "build-torch-spline-conv" = [
          { file = "filelock-4.3.2-py3-none-any.whl"; sha256 = "02a8801bc6b2a80921bf3d7895c63084d53bae2a3c86783adce5ae2b89a1825b"; index = "pypi"; }
          { file = "fsspec-2026.9.0-py3-none-any.whl"; sha256 = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"; index = "pypi"; }
          { file = "jinja2-3.1.6-py3-none-any.whl"; sha256 = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"; index = "pypi"; }
          { file = "markupsafe-3.0.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808"; index = "pypi"; }
          { file = "mpmath-1.3.0-py3-none-any.whl"; sha256 = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"; index = "pypi"; }
          { file = "networkx-3.6.1-py3-none-any.whl"; sha256 = "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762"; index = "pypi"; }
          { file = "packaging-26.4-py3-none-any.whl"; sha256 = "81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2"; index = "pypi"; }
          { file = "setuptools-81.0.0-py3-none-any.whl"; sha256 = "fdd925d5c5d9f62e4b74b30d6dd7828ce236fd6ed998a08d81de62ce5a6310d6"; index = "pypi"; }
          { file = "sympy-1.14.0-py3-none-any.whl"; sha256 = "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"; index = "pypi"; }
          { file = "typing_extensions-4.16.0-py3-none-any.whl"; sha256 = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"; index = "pypi"; }
          { file = "wheel-0.48.0-py3-none-any.whl"; sha256 = "3217dcc807155e45db462d7ef2431f5ddda0d7273b700d05a67b271ceb1287ab"; index = "pypi"; }
        ];
        "source" = [
          { file = "torch-spline-conv.tar"; sha256 = "c17ca45847e6cbac27173a74011fa17e75387df923cb56791797b1c8cb12bb10"; index = ""; }
        ];
      };

      # One file: from the folder of wheels, else from an index that nixpkgs can ask by name.
      fetch = folder: file:
        let
          given = "${wheels}/${folder}/${file.file}";
          name = file.name or file.file;
          wheel = builtins.match ".*[.]whl" file.file != null;
          archive = builtins.match ".*[.]tar[.]gz" file.file != null;
          parts = builtins.filter builtins.isString
            (builtins.split "-" (removeSuffix (if wheel then ".whl" else ".tar.gz") file.file));
          part = builtins.elemAt parts;
          known = file.index == "pypi" && !(file ? name);
        in
        if builtins.pathExists given
        then builtins.path { inherit name; path = given; recursive = false; sha256 = file.sha256; }
        else if known && wheel && builtins.length parts == 5
        then python.pkgs.fetchPypi {
          format = "wheel";
          pname = part 0;
          version = part 1;
          dist = part 2;
          python = part 2;
          abi = part 3;
          platform = part 4;
          sha256 = file.sha256;
        }
        else if known && archive && builtins.length parts == 2
        then python.pkgs.fetchPypi { pname = part 0; version = part 1; sha256 = file.sha256; }
        else pkgs.requireFile {
          inherit name;
          sha256 = file.sha256;
          message = "run: envspec fetch spec.env -o wheels, and add to the command: --override-input wheels path:./wheels";
        };
      only = folder: fetch folder (builtins.head files.${folder});
      links = folder: pkgs.runCommand "wheels" { } ''
        mkdir $out
        ${concatMapStringsSep "\n"
          (file: "ln -s ${fetch folder file} $out/${escapeShellArg file.file}") files.${folder}}
      '';

      # What manylinux wheels may expect of every machine.
      libraries = pkgs.pythonManylinuxPackages.manylinux2014;
      # Libraries of the driver, which only the machine can have, and those of hardware and programs
      # that some wheels load if they are there.
      absent = [ ];

      # A command with variables, as one line of a shell.
      invoke = variables: argv:
        let words = map (n: "${n}=${variables.${n}}") (builtins.attrNames variables);
        in escapeShellArgs ([ "${pkgs.coreutils}/bin/env" ] ++ words ++ argv);
      unpack = archive: folder:
        "tar --extract --file ${archive} --directory ${folder} --strip-components=1 --no-same-owner";

      # The installer is a locked wheel as well.
      installer = pkgs.stdenv.mkDerivation {
        pname = "uv";
        version = "0.13.9";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ pkgs.autoPatchelfHook ];
        buildInputs = libraries;
        installPhase = ''
          ${interpreter} -m zipfile -e ${only "tools"} unpacked
          install -D -m 0755 unpacked/*.data/scripts/uv $out/bin/uv
          autoPatchelf -- $out
        '';
      };

      # A virtual environment with every wheel of a list. Nothing is changed in it but what ELF
      # files say of where libraries are.
      environmentOf = { name, list, folders, compiled ? [ ] }: pkgs.stdenv.mkDerivation {
        pname = name;
        version = "env";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ pkgs.autoPatchelfHook ];
        buildInputs = libraries;
        autoPatchelfIgnoreMissingDeps = absent;
        appendRunpaths = [ "$ORIGIN" ];
        installPhase = ''
          export HOME=$TMPDIR
          uv="${installer}/bin/uv --offline --no-cache --no-config"
          $uv venv --quiet --no-project --python ${interpreter} $out
          $uv pip install --quiet --no-index --no-deps --require-hashes --python $out/bin/python \
            ${concatMapStringsSep " " (folder: "--find-links ${links folder}") folders} \
            --requirements ${list}
          ${concatMapStringsSep "\n" (extension: ''
            $uv pip install --quiet --no-index --no-deps --prerelease allow \
              --python $out/bin/python --find-links ${extension.wheel} ${escapeShellArg extension.name}
          '') compiled}
          # uv's note on when a wheel's file was last changed, and the line about it in RECORD.
          find $out/lib -path '*.dist-info/uv_cache.json' \
            -execdir sed -i '/[.]dist-info.uv_cache[.]json,/d' RECORD ';' -delete
          # Libraries that wheels load by name from each other's folders.
          for folder in $out/lib/python3.11/site-packages/{nvidia/*/lib,torch/lib,*.libs}; do
            if [ -d "$folder" ]; then
              addAutoPatchelfSearchPath "$folder"
            fi
          done
          autoPatchelf -- $out
        '';
      };

      # spec.env:28 extension torch-spline-conv 1.2.2
      build-torch-spline-conv = environmentOf {
        name = "torch-spline-conv";
        list = ./. + "/requirements.build-torch-spline-conv.lock";
        folders = [ "framework" "build-torch-spline-conv" ];
      };
      extension-torch-spline-conv = pkgs.stdenv.mkDerivation {
        pname = "torch-spline-conv";
        version = "1.2.2";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ ];
        installPhase = ''
          export HOME=$TMPDIR PYTHONDONTWRITEBYTECODE=1 PATH=${build-torch-spline-conv}/bin:$PATH
          mkdir -p source $out
          ${unpack (only "extension-torch-spline-conv") "source"}
          ${invoke { "CUDA_VISIBLE_DEVICES" = ""; "FORCE_CUDA" = "0"; "LC_ALL" = "C.UTF-8"; "MAX_JOBS" = "4"; "PYTHONHASHSEED" = "0"; "SOURCE_DATE_EPOCH" = "315532800"; } [
            "${installer}/bin/uv" "build" "--quiet" "--wheel" "--no-build-isolation" "--offline"
            "--no-cache" "--no-config" "--python" "${build-torch-spline-conv}/bin/python"
            "--out-dir" "${placeholder "out"}" "source"
          ]}
        '';
      };

      environment = environmentOf {
        name = "torch-spline-conv";
        list = ./requirements.lock;
        folders = [ "framework" "packages" ];
        compiled = [
          { name = "torch-spline-conv"; wheel = extension-torch-spline-conv; }
        ];
      };

      # The variables of the image, with the folders where they are here.
      variables = source: {
        "VIRTUAL_ENV" = "${environment}";
        "PYTHONPATH" = "${source}";
      };

      # The code under test, and what the steps of the spec leave in its folder. They see the
      # environment read-only, and no network.
      source = pkgs.stdenv.mkDerivation {
        pname = "torch-spline-conv";
        version = "source";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ ];
        installPhase =
          let source = placeholder "out"; in ''
            export HOME=$TMPDIR PYTHONDONTWRITEBYTECODE=1 PATH=${environment}/bin:$PATH
            mkdir $out
            ${unpack (only "source") "$out"}
            cd $out
            ${concatMapStringsSep "\n" (invoke (variables source)) (steps source)}
          '';
      };
      steps = source: [
      ];

      # Programs beside the spec, each known by its sha256.
      scripts = pkgs.runCommand "entries" { } ''
        mkdir $out
      '';

      # An entry as a program: its command in the source folder, a time limit, a folder of its own
      # for what it writes. Its exit status is that of the command.
      program = { name, timeout, environment, argv }: pkgs.writeShellScript name ''
        scratch=$(${pkgs.coreutils}/bin/mktemp -d) || exit 1
        trap '${pkgs.coreutils}/bin/rm -rf "$scratch"' EXIT
        cd ${source} || exit 1
        export PATH=${path}:$PATH HOME=$scratch TMPDIR=$scratch
        ${invoke (variables source // environment) ([ "timeout" timeout ] ++ argv)} "$@"
      '';
      path = "${environment}/bin:${pkgs.coreutils}/bin";
      entries = {
        "smoke" = program {
          name = "smoke";
          timeout = "300";
          environment = { "LANG" = "C.UTF-8"; "PYTHONDONTWRITEBYTECODE" = "1"; "GLOO_SOCKET_IFNAME" = "lo"; "NCCL_SOCKET_IFNAME" = "lo"; "CUDA_VISIBLE_DEVICES" = ""; };
          argv = [ "python" "smoke.py" ];
        };
      };

      # The environment as programs see it: each of its programs with the variables set.
      default = pkgs.runCommand "torch-spline-conv" { } ''
        mkdir -p $out/bin $out/libexec
        ln -s ${environment} $out/env
        ln -s ${source} $out/src
        ln -s ${start} $out/libexec/start
        for program in ${environment}/bin/*; do
          ln -s ../libexec/start "$out/bin/''${program##*/}"
        done
        # These are read by a shell, not run.
        rm -f $out/bin/activate* $out/bin/deactivate* $out/bin/pydoc.bat
      '';
      start = pkgs.writeShellScript "start" ''
        export PATH=${path}:$PATH PYTHONDONTWRITEBYTECODE=1
        exec ${invoke (variables source) [ ]} ${environment}/bin/"''${0##*/}" "$@"
      '';

      # C0, as far as Nix can tell: see docs/nix.md. It prints what it checked.
      c0 = pkgs.writeText "c0.py" ''
        """Whether every locked distribution is installed in its version, and modules load."""

        import importlib.metadata
        import json
        import os
        import pathlib
        import re
        import subprocess
        import sys

        LEFT_OUT = re.compile(r"(unit)?tests?|docs?|examples?|benchmarks?|scripts?|tools?")
        extensions = json.loads(sys.argv[2])
        wrong = []


        def canonical(name):
            return re.sub("[-_.]+", "-", name).lower()


        wanted = {canonical(e["name"]): e["version"] for e in extensions}
        for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, version = line.split(" ")[0].split("==")
                wanted[canonical(name)] = version
        site = [p for p in sys.path if p.startswith(sys.prefix) and p.endswith("site-packages")]
        found = {canonical(d.name): d.version for d in importlib.metadata.distributions(path=site)}
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                wrong.append(f"{name}: {wanted.get(name)} is locked, {found.get(name)} is installed")
        print(f"distributions: {len(wanted)} locked, {len(found)} installed, compared by name and version")

        modules = [m for e in extensions for m in e["modules"]]
        others = []
        for root in filter(None, os.environ.get("PYTHONPATH", "").split(":")):
            for path in sorted(pathlib.Path(root).iterdir()):
                if (path / "__init__.py").is_file() and path.name.isidentifier():
                    (others if LEFT_OUT.fullmatch(path.name) else modules).append(path.name)
                elif path.suffix == ".py":
                    others.append(path.name)
        for module in modules:
            command = [sys.executable, "-c", "import importlib, sys; importlib.import_module(sys.argv[1])"]
            done = subprocess.run([*command, module], stdin=subprocess.DEVNULL, stdout=2)
            if done.returncode:
                wrong.append(f"{module}: does not load")
        print(f"loaded, each in a process of its own: {' '.join(modules) or 'nothing'}")
        print(f"in the import roots, and not loaded: {' '.join(others) or 'nothing'}")
        print("not checked: whether files are what their RECORD says, imports inside functions, GPUs")
        print("\n".join(wrong) or "nothing is wrong")
        sys.exit(bool(wrong))
      '';
    in
    {
      packages.${system} = {
        inherit default environment source;
        inherit extension-torch-spline-conv;

        # The image of the Dockerfile, without its base.
        image = pkgs.dockerTools.buildLayeredImage {
          name = "torch-spline-conv";
          tag = "5a2eed040624fccf";
          created = "1980-01-01T00:00:00Z";
          contents = [
            pkgs.bash
            pkgs.coreutils
            (pkgs.runCommand "layout" { } ''
              mkdir -p $out/opt/envspec
              ln -s ${environment} $out/opt/env
              ln -s ${source} $out/opt/src
              ln -s ${scripts} $out/opt/envspec/entries
            '')
          ];
          extraCommands = "mkdir -m 1777 tmp";
          config = {
            Env = [ "PATH=/opt/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "VIRTUAL_ENV=/opt/env" "PYTHONPATH=/opt/src" ];
            Labels = { "org.opencontainers.image.title" = "torch-spline-conv"; "org.envspec.shm-size" = "1073741824"; };
            User = "65534:65534";
            WorkingDir = "/opt/src";
            Cmd = [ "/opt/env/bin/python" ];
          };
        };
      };

      apps.${system} = builtins.mapAttrs
        (name: program: { type = "app"; program = "${program}"; })
        ({ default = "${default}/bin/python"; } // entries);

      devShells.${system}.default = pkgs.mkShell {
        packages = [ environment ];
        env = variables source;
      };

      checks.${system} = {
        c0 = pkgs.runCommand "c0" { } ''
          export HOME=$TMPDIR PYTHONDONTWRITEBYTECODE=1 PATH=${path}:$PATH
          cd ${source}
          ${invoke (variables source) ([
            "python" "${c0}" "${./requirements.lock}" (builtins.toJSON [ { name = "torch-spline-conv"; version = "1.2.2"; modules = [ "torch_spline_conv" ]; } ])
          ])} > $out || { cat $out; exit 1; }
        '';
        c1 = pkgs.runCommand "c1" { } ''
          status=0
          ${entries."smoke"} || status=$?
          echo ${escapeShellArg "smoke"}: status $status, 0 expected | tee -a $out
          [ $status -eq 0 ]
        '';
      };
    };
}
