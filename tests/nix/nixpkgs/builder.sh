# The builder of the stand-in: inputs on PATH, their hooks, then the one phase that there is.
set -eu -o pipefail
export PATH=$machinePath SOURCE_DATE_EPOCH=315532800
umask 022
for input in ${nativeBuildInputs-}; do
  PATH=$input/bin:$PATH
  if [ -e "$input/nix-support/setup-hook" ]; then
    . "$input/nix-support/setup-hook"
  fi
done
cd "$NIX_BUILD_TOP"
if [ -n "${buildCommandPath-}" ]; then
  . "$buildCommandPath"
else
  eval "$installPhase"
fi
