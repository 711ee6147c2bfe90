{ system, config ? { } }:
let
  machine = import ./machine.nix;

  lib = rec {
    concatMapStringsSep = separator: f: list: builtins.concatStringsSep separator (map f list);
    escapeShellArg = text:
      "'" + builtins.replaceStrings [ "'" ] [ "'\\''" ] (toString text) + "'";
    escapeShellArgs = concatMapStringsSep " " escapeShellArg;
    imap = f: list: builtins.genList (n: f n (builtins.elemAt list n)) (builtins.length list);
    removeSuffix = suffix: text:
      let
        length = builtins.stringLength text - builtins.stringLength suffix;
      in
      if length >= 0 && builtins.substring length (-1) text == suffix
      then builtins.substring 0 length text
      else text;
  };

  build = attributes: derivation (attributes // {
    inherit system;
    builder = machine.bash;
    args = [ ./builder.sh ];
    machinePath = machine.path;
  });
  mkDerivation = attributes:
    build (attributes // { name = attributes.name or "${attributes.pname}-${attributes.version}"; });
  runCommand = name: attributes: buildCommand:
    build (attributes // {
      inherit name buildCommand;
      passAsFile = [ "buildCommand" ] ++ attributes.passAsFile or [ ];
    });
  writeText = name: text: runCommand name { inherit text; passAsFile = [ "text" ]; } ''
    cp "$textPath" $out
  '';
  links = name: folder: runCommand name { } ''
    mkdir -p $out/bin
    ln -s ${folder}/* $out/bin/
  '';
  # The interpreter is the machine's.
  python = runCommand "python3" { } ''
    mkdir -p $out/bin
    ln -s ${machine.python} $out/bin/python${machine.version}
  '' // {
    pkgs.fetchPypi = arguments: throw "the stand-in has no network: ${builtins.toJSON arguments}";
  };
in
{
  "python${builtins.replaceStrings [ "." ] [ "" ] machine.version}" = python;
} // rec {
  inherit lib runCommand writeText;
  stdenv = { inherit mkDerivation; };

  bash = links "bash" (runCommand "bash-bin" { } "mkdir $out; ln -s ${machine.bash} $out/bash; ln -s ${machine.bash} $out/sh");
  coreutils = links "coreutils" (runCommand "coreutils-bin" { } ''
    mkdir $out
    for name in env timeout mktemp rm cat; do ln -s ${machine.coreutils}/$name $out/$name; done
  '');
  pythonManylinuxPackages.manylinux2014 = [ ];
  addDriverRunpath.driverLink = "/run/opengl-driver";

  # Patches nothing, since the machine's own loader finds its libraries; refuses, as the real one
  # does, a file that needs a library which is nowhere and which is not to be ignored.
  autoPatchelfHook = runCommand "auto-patchelf-hook" { } ''
    mkdir -p $out/nix-support
    substitute() { sed "s|@python@|${machine.python}|; s|@needed@|${./needed.py}|" "$1"; }
    substitute ${./auto-patchelf.sh} > $out/nix-support/setup-hook
  '';

  writeShellScript = name: text: runCommand name { inherit text; passAsFile = [ "text" ]; } ''
    { echo '#!${machine.bash}'; cat "$textPath"; } > $out
    chmod 0555 $out
  '';
  requireFile = { name, sha256, message }: runCommand name {
    outputHashAlgo = "sha256";
    outputHashMode = "flat";
    outputHash = sha256;
    inherit message;
  } ''
    echo "$message" >&2
    exit 1
  '';
  mkShell = { packages ? [ ], env ? { } }: build (env // {
    name = "shell";
    nativeBuildInputs = packages;
    buildCommand = "echo shell > $out";
    passAsFile = [ "buildCommand" ];
  });

  # An archive as `docker load` reads it: the closure below its own store paths, links to what is in
  # `contents`, and the configuration. Time stamps are those of `created`.
  dockerTools.buildLayeredImage = { name, tag, created, contents, extraCommands, config }:
    runCommand "${name}.tar.gz" {
      settings = builtins.toJSON { inherit created config; };
      exportReferencesGraph = builtins.concatLists (lib.imap (n: path: [ "graph-${toString n}" path ]) contents);
      passAsFile = [ "settings" ];
      inherit contents extraCommands;
    } ''
      ${machine.python} ${./image.py} ${lib.escapeShellArgs [ name tag ]} "$settingsPath" $contents
    '';

  cudaPackages_12_8 = {
    backendStdenv = stdenv;
    # Shows that it is taken from here, and compiles nothing.
    cudatoolkit = runCommand "cuda-stand-in" { } "mkdir -p $out/bin; echo 12.8 > $out/version";
  };
}
