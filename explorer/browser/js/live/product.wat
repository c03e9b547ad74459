;; Matrix × vectors in single precision: out[r][o] = weight[o] · x[r] + bias[o]. Weights are read in the order in which they
;; lie, because that is several times as fast as reading four rows side by side once they exceed the processor's cache.
;; After a change: `npm run assemble` in tests/js writes product.js.
(module
  (memory (import "live" "memory") 1)
  (func (export "product")
    ;; Addresses of [outputs, width], [outputs] or 0 for none, [rows, width] and [rows, outputs]; the width is in bytes.
    (param $weight i32) (param $bias i32) (param $x i32) (param $out i32)
    (param $outputs i32) (param $width i32) (param $rows i32)
    (local $o i32) (local $r i32) (local $w i32) (local $at i32) (local $end i32) (local $added f32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (loop $each_output
      (if (local.get $bias)
        (then (local.set $added (f32.load (i32.add (local.get $bias) (i32.shl (local.get $o) (i32.const 2)))))))
      (local.set $at (local.get $x))
      (local.set $r (i32.const 0))
      (loop $each_row
        ;; Four sums of four numbers each, because each addition waits for the one before it.
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (local.get $a))
        (local.set $c (local.get $a))
        (local.set $d (local.get $a))
        (local.set $w (local.get $weight))
        (local.set $end (i32.add (local.get $at) (local.get $width)))
        (loop $sixteen
          (local.set $a (f32x4.add (local.get $a)
            (f32x4.mul (v128.load (local.get $at)) (v128.load (local.get $w)))))
          (local.set $b (f32x4.add (local.get $b)
            (f32x4.mul (v128.load offset=16 (local.get $at)) (v128.load offset=16 (local.get $w)))))
          (local.set $c (f32x4.add (local.get $c)
            (f32x4.mul (v128.load offset=32 (local.get $at)) (v128.load offset=32 (local.get $w)))))
          (local.set $d (f32x4.add (local.get $d)
            (f32x4.mul (v128.load offset=48 (local.get $at)) (v128.load offset=48 (local.get $w)))))
          (local.set $w (i32.add (local.get $w) (i32.const 64)))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (br_if $sixteen (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $a (f32x4.add
          (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
        (f32.store
          (i32.add (local.get $out)
            (i32.shl (i32.add (i32.mul (local.get $r) (local.get $outputs)) (local.get $o)) (i32.const 2)))
          (f32.add (local.get $added) (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
            (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a))))))
        (local.set $r (i32.add (local.get $r) (i32.const 1)))
        (br_if $each_row (i32.lt_u (local.get $r) (local.get $rows))))
      (local.set $weight (local.get $w))
      (local.set $o (i32.add (local.get $o) (i32.const 1)))
      (br_if $each_output (i32.lt_u (local.get $o) (local.get $outputs))))))
