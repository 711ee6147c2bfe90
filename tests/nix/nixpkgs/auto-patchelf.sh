searched=()

addAutoPatchelfSearchPath() {
  searched+=("$@")
}

autoPatchelf() {
  [ "$1" = -- ] || exit 1
  @python@ @needed@ "$2" "${autoPatchelfIgnoreMissingDeps-}" "${searched[@]}"
}
